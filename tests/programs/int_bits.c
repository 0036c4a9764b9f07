// Leading and trailing zeros, population count, parity and find-first-set at 16 to 64 bits.
// opt: all
// run
// input: "\x00\x00\x10\x00\x07"
// stdout: "bit 20 is the highest\nand the lowest\nshifted\nthree bits\neven\nfirst set is 21\n"
// exit: 0
// path: length: len > 4
// path: u32le(in) != 0
// path: select: (u32le(in) & 0xfff00000) == 0x100000
// path: select: (u32le(in) & 0x1fffff) == 0x100000
// path: select: popcount8(in[4]) == 3
// path: select: (popcount64((uint64_t)in[4] << 40 | u32le(in)) & 1) == 0
// path: select: (u32le(in) & 0x1fffff) == 0x100000
// other: "\x00\x00\x20\x00\x07"
// run
// input: "\x00\x00\x00\x00\x00"
// stdout: "zero\nnot three bits\neven\nfirst set elsewhere\n"
// exit: 0
// path: length: len > 4
// path: u32le(in) == 0
// path: select: popcount8(in[4]) != 3
// path: select: (popcount64((uint64_t)in[4] << 40 | u32le(in)) & 1) == 0
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[5];
    uint32_t x;
    if (read(0, in, 5) != 5)
        return 2;
    memcpy(&x, in, 4);
    if (x == 0) {
        puts("zero");
    } else {
        puts(__builtin_clz(x) == 11 ? "bit 20 is the highest" : "highest elsewhere");
        puts(__builtin_ctz(x) == 20 ? "and the lowest" : "lowest elsewhere");
        puts(__builtin_clzll((uint64_t)x << 13) == 30 ? "shifted" : "shifted elsewhere");
    }
    puts(__builtin_popcount(in[4]) == 3 ? "three bits" : "not three bits");
    puts(__builtin_parityll(x | (uint64_t)in[4] << 40) ? "odd" : "even");
    puts(__builtin_ffs((int)x) == 21 ? "first set is 21" : "first set elsewhere");
    return 0;
}
