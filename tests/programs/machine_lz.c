// An LZ decompressor: literals and back references; distance and length come from the input.
// opt: all
// run
// input: "\x03abc\x83\x03\x01!\x00"
// stdout: "7 bytes, as packed\n"
// exit: 0
// path: length: len <= 30
// path: len > 0
// path: in[0] != '\0'
// path: (int8_t)in[0] > -1
// path: in[0] + 1 <= 31
// path: in[0] <= 64
// path: check: in[0] <= '@'
// path: check: in[0] <= 31
// path: pin: in[0] == 3
// path: in[0] + 1 < len
// path: in[4] != '\0'
// path: (int8_t)in[4] <= -1
// path: in[5] != '\0'
// path: in[0] >= in[5]
// path: in[0] + (in[4] & 127) <= 64
// path: (in[4] & 127) != 0
// path: check: (uint64_t)(in[0] - in[5]) <= 63
// path: (in[4] & 127) != 1
// path: check: (uint64_t)(in[0] + 1 - in[5]) <= 63
// path: (in[4] & 127) != 2
// path: check: (uint64_t)(in[0] + 2 - in[5]) <= 63
// path: (in[4] & 127) == 3
// path: in[0] + 3 < len
// path: in[6] != '\0'
// path: …
// other: "\x03abc\x83\x02\x01!\x00"
// run
// input: "\x01a\x85\x02"
// stdout: "bad reference\n"
// exit: 1
// path: length: len <= 30
// path: len > 0
// path: in[0] != '\0'
// path: (int8_t)in[0] > -1
// path: in[0] + 1 <= 31
// path: in[0] <= 64
// path: check: in[0] <= '@'
// path: check: in[0] <= 31
// path: pin: in[0] == 1
// path: in[0] + 1 < len
// path: in[2] != '\0'
// path: (int8_t)in[2] <= -1
// path: in[3] != '\0'
// path: in[0] < in[3]
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[32] = {0}, out[64];
    long n = read(0, in, 31), m = 0;
    for (long i = 0; i < n;) {
        unsigned op = in[i++];
        if (op == 0)
            break;
        if (op < 0x80) {
            if (i + op > 31 || m + op > 64)
                return puts("literals run over"), 1;
            memcpy(out + m, in + i, op);
            i += op, m += op;
        } else {
            unsigned length = op & 0x7f, distance = in[i++];
            if (distance == 0 || distance > m || m + length > 64)
                return puts("bad reference"), 1;
            for (; length; length--, m++)
                out[m] = out[m - distance];
        }
    }
    printf("%ld bytes%s\n", m, m == 7 && memcmp(out, "abcabc!", 7) == 0 ? ", as packed" : "");
    return 0;
}
