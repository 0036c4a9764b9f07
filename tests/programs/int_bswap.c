// Byte swaps and bit reversal: a big-endian magic number and a mirrored byte.
// opt: all
// run
// input: "\xca\xfe\xba\xbe\x12\x34\x25\x00\x00\x00\x00\x00\x00\x01"
// stdout: "new\nswapped\nmirrored\ntop bit\n"
// exit: 0
// path: length: len > 13
// path: u32le(in) == 0xbebafeca
// path: select: in[4] > 17
// path: select: u64le(in+6) == 0x100000000000025
// path: select: in[6] == '%'
// must: in[0] == 0xca
// must: in[3] == 0xbe
// must: in[6] == 0x25
// other: "\xbe\xba\xfe\xca\x12\x34\x25\x00\x00\x00\x00\x00\x00\x01"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[14];
    uint32_t a;
    uint16_t b;
    uint64_t c;
    if (read(0, in, 14) != 14)
        return 2;
    memcpy(&a, in, 4);
    memcpy(&b, in + 4, 2);
    memcpy(&c, in + 6, 8);
    if (__builtin_bswap32(a) != 0xcafebabe)
        return puts("no class file"), 1;
    puts(__builtin_bswap16(b) >= 0x1200 ? "new" : "old");
    puts(__builtin_bswap64(c) == 0x2500000000000001ull ? "swapped" : "not swapped");
    puts(__builtin_bitreverse8(in[6]) == 0xa4 ? "mirrored" : "not mirrored");
    puts(__builtin_bitreverse32(a) & 1 ? "top bit" : "no top bit");
    return 0;
}
