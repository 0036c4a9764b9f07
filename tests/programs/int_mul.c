// Multiplication at every width; decisions on the low and on the high bits of a product.
// opt: all
// run
// input: "\x1b\x13\x03\x01\x07\x00\x00\x00\x0b"
// stdout: "inverse pair\nbig\nhash five\nlow byte other\n"
// exit: 0
// path: length: len > 8
// path: (int8_t)(in[1] * in[0]) == 1
// path: select: (u16be(in+2) * 257 & 0xffff) > 768
// path: select: (u32le(in+4) * 0x9e3779b1 & 0xf0000000) == 0x50000000
// path: select: (int8_t)(in[4] * 179 * in[8]) != -73
// same: "\x13\x1b\x03\x01\x07\x00\x00\x00\x0b"
// run
// input: "\x10\x10\x00\x00\x00\x00\x00\x01\x00"
// stdout: "gone\nsmall\nhash other\nlow byte other\n"
// exit: 0
// path: length: len > 8
// path: (int8_t)(in[1] * in[0]) != 1
// path: select: (int8_t)(in[1] * in[0]) == 0
// path: select: (u16be(in+2) * 257 & 0xffff) <= 768
// path: select: (u32le(in+4) * 0x9e3779b1 & 0xf0000000) != 0x50000000
// path: select: (int8_t)(in[4] * 179 * in[8]) != -73
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[9];
    if (read(0, in, 9) != 9)
        return 2;
    uint8_t p8 = in[0] * in[1];
    uint16_t p16 = (uint16_t)(in[2] << 8 | in[3]) * 257u;
    uint32_t x;
    memcpy(&x, in + 4, 4);
    uint32_t p32 = x * 0x9e3779b1u;
    uint64_t p64 = (uint64_t)x * in[8] * 0x100000001b3ull;
    printf("%s\n", p8 == 1 ? "inverse pair" : p8 == 0 ? "gone" : "product");
    printf("%s\n", p16 > 0x0300 ? "big" : "small");
    printf("%s\n", p32 >> 28 == 5 ? "hash five" : "hash other");
    printf("%s\n", (p64 & 0xff) == 0xb7 ? "low byte b7" : "low byte other");
    return 0;
}
