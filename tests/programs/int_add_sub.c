// Wrapping addition and subtraction at 8, 16, 32 and 64 bits, each deciding a branch.
// opt: all
// run
// input: "\xf0\x20\xff\xff\x03\x00\x05\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00\x01"
// stdout: "8: wrapped\n16: two\n32: just below\n64: borrow through\n"
// exit: 0
// path: length: len > 17
// path: select: (uint8_t)~in[0] < in[1]
// path: select: (int16_t)(u16le(in+4) + u16le(in+2)) == 2
// path: select: u32le(in+6) == 0x80000005
// path: select: u64le(in+10) == 0x100000000000000
// other: "\xf0\x0f\xff\xff\x03\x00\x05\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00\x01"
// must: in[17] == 1
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[18] = {0};
    if (read(0, in, sizeof in) != sizeof in)
        return 2;
    uint8_t a = in[0] + in[1];
    uint16_t b, c;
    memcpy(&b, in + 2, 2);
    memcpy(&c, in + 4, 2);
    uint32_t d;
    memcpy(&d, in + 6, 4);
    uint64_t e;
    memcpy(&e, in + 10, 8);
    puts(a < in[0] ? "8: wrapped" : "8: fits");
    puts((uint16_t)(b + c) == 2 ? "16: two" : "16: other");
    puts(d - 0x80000006u == (uint32_t)-1 ? "32: just below" : "32: other");
    puts(e - 1 == 0x00ffffffffffffffull ? "64: borrow through" : "64: other");
    return 0;
}
