// A typical header: magic, version, length and checksum are checked before the payload is read.
// opt: all
// run
// input: "PLCH\x02\x00\x05\x00\x14\x02hello-"
// stdout: "hello\n"
// exit: 0
// path: length: len > 9
// path: in[0] == 'P' && in[1] == 'L' && in[2] == 'C' && in[3] == 'H'
// path: u16le(in+4) == 2
// path: u16le(in+6) <= 32
// path: check: u16le(in+6) <= 32
// path: pin: u16le(in+6) == 5
// path: model: u16le(in+6) <= len - 10
// path: u16le(in+6) == u16le(in+6)
// path: u16le(in+6) != 0
// path: u16le(in+6) > 1
// path: u16le(in+6) > 2
// path: u16le(in+6) > 3
// path: u16le(in+6) > 4
// path: u16le(in+6) <= 5
// path: in[10] + in[11] + in[12] + in[13] + in[14] == u16le(in+8)
// path: select: in[10] == 'h'
// must: in[0] == 'P'
// must: in[4] == 2
// other: "PLCH\x02\x00\x05\x00\x14\x02hellp-"
// run
// input: "PLCH\x03\x00\x05\x00\x14\x02hello-"
// stdout: "wrong version\n"
// exit: 1
// path: length: len > 9
// path: in[0] == 'P' && in[1] == 'L' && in[2] == 'C' && in[3] == 'H'
// path: u16le(in+4) != 2
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct header { char magic[4]; uint16_t version, length, sum; };

int main(void) {
    struct header h;
    unsigned char body[32];
    if (read(0, &h, sizeof h) != sizeof h || memcmp(h.magic, "PLCH", 4))
        return puts("no magic"), 1;
    if (h.version != 2)
        return puts("wrong version"), 1;
    if (h.length > sizeof body || read(0, body, h.length) != h.length)
        return puts("wrong length"), 1;
    uint16_t sum = 0;
    for (int i = 0; i < h.length; i++)
        sum = (uint16_t)(sum + body[i]);
    if (sum != h.sum)
        return puts("wrong sum"), 1;
    puts(body[0] == 'h' ? "hello" : "payload");
    return 0;
}
