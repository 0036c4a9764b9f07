// Rotations written as shifts become funnel shifts; the amount may be zero or come from the input.
// opt: all
// run
// input: "\x12\x34\x56\x78\x08\xe1"
// stdout: "one byte round\nnibbles swapped\neven\n"
// exit: 0
// path: length: len > 5
// path: fshl32(u32le(in), u32le(in), in[4]) == 0x56341278
// path: select: in[5] == 225
// path: select: ((uint64_t)u32le(in) * 0x100000001 & 0x800000000000) == 0
// other: "\x12\x34\x56\x78\x09\xe1"
// run
// input: "\x01\x00\x00\x00\x00\x80"
// stdout: "whole turn\nnibbles other\neven\n"
// exit: 0
// path: length: len > 5
// path: fshl32(u32le(in), u32le(in), in[4]) != 0x56341278
// path: fshl32(u32le(in), u32le(in), in[4]) == u32le(in)
// path: select: in[5] != 225
// path: select: ((uint64_t)u32le(in) * 0x100000001 & 0x800000000000) == 0
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint32_t rotl(uint32_t x, unsigned n) { return x << (n & 31) | x >> (-n & 31); }
static uint8_t rotr8(uint8_t x, unsigned n) { return x >> (n & 7) | x << (-n & 7); }

int main(void) {
    unsigned char in[6];
    uint32_t x;
    if (read(0, in, 6) != 6)
        return 2;
    memcpy(&x, in, 4);
    uint32_t r = rotl(x, in[4]);
    if (r == 0x56341278)
        puts("one byte round");
    else if (r == x)
        puts("whole turn");
    else
        puts("elsewhere");
    puts(rotr8(in[5], 4) == 0x1e ? "nibbles swapped" : "nibbles other");
    uint64_t h = __builtin_rotateleft64(x * 0x100000001ull, 17);
    puts(h & 1 ? "odd" : "even");
    return 0;
}
