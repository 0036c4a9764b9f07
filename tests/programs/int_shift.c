// Shifts left, logical and arithmetic right, by constants and by amounts from the input.
// opt: all
// run
// input: "\x81\x03\xf0\xff\x1f\x80"
// stdout: "left 8 right -16\nall ones\nhigh nibble full\nwide\nminus\n"
// exit: 0
// path: length: len > 5
// path: select: (int8_t)((uint32_t)in[0] << (in[1] & 7)) == 8
// path: select: (int8_t)in[0] >> (in[1] & 7) == -16
// path: select: u16le(in+2) > 0xffef
// path: select: u16le(in+2) > 0xefff
// path: select: (uint64_t)in[4] << (in[1] & 63) > 200
// path: select: (int8_t)in[5] < 0
// other: "\x81\x04\xf0\xff\x1f\x80"
// run
// input: "\x00\x3f\x01\x00\x00\x00"
// stdout: "left right\nmixed\nhigh nibble not full\nnarrow\nplus\n"
// exit: 0
// path: length: len > 5
// path: select: (int8_t)((uint32_t)in[0] << (in[1] & 7)) != 8
// path: select: (int8_t)in[0] >> (in[1] & 7) != -16
// path: select: u16le(in+2) <= 0xffef
// path: select: u16le(in+2) <= 0xefff
// path: select: (uint64_t)in[4] << (in[1] & 63) <= 200
// path: select: (int8_t)in[5] >= 0
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[6];
    if (read(0, in, 6) != 6)
        return 2;
    uint8_t left = in[0] << (in[1] & 7);
    int8_t right = (int8_t)in[0] >> (in[1] & 7);
    printf("%s %s\n", left == 8 ? "left 8" : "left", right == -16 ? "right -16" : "right");
    int16_t h;
    memcpy(&h, in + 2, 2);
    printf("%s\n", h >> 4 == -1 ? "all ones" : "mixed");
    uint16_t u = (uint16_t)h;
    printf("%s\n", u >> 12 == 15 ? "high nibble full" : "high nibble not full");
    uint64_t w = (uint64_t)in[4] << (in[1] & 63);
    printf("%s\n", w > 200 ? "wide" : "narrow");
    int64_t s = (int64_t)((uint64_t)in[5] << 56) >> (in[1] & 63);
    printf("%s\n", s < 0 ? "minus" : "plus");
    return 0;
}
