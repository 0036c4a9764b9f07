// 128-bit values: built from the input, multiplied, divided, shifted and compared.
// opt: all
// run
// input: "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x03"
// stdout: "not negative\nno carry\nmiddle\ntimes ten\nnot third\nmore\n"
// exit: 0
// path: length: len > 16
// path: select: (__int128)u128le(in) >= 0
// path: select: (u128le(in) & (__int128)((unsigned __int128)0xfffffffffffffff << 64 | 0xf000000000000000)) == (__int128)((unsigned __int128)0xf0e0d0c0b0a0908 …
// path: select: (u128le(in) * 10 & (unsigned __int128)0xff00000000000000 << 64) == (unsigned __int128)0x9600000000000000 << 64
// path: in[16] != '\0'
// path: check: in[16] != '\0'
// path: select: (u128le(in) / in[16] & 255) != 86
// path: select: u128le(in) != 1
// other: "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x80\x03"
// run
// input: "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
// stdout: "not negative\nno carry\nnot the middle\ntimes other\none\n"
// exit: 0
// path: length: len > 16
// path: select: (__int128)u128le(in) >= 0
// path: select: (u128le(in) & (__int128)((unsigned __int128)0xfffffffffffffff << 64 | 0xf000000000000000)) != (__int128)((unsigned __int128)0xf0e0d0c0b0a0908 …
// path: select: (u128le(in) * 10 & (unsigned __int128)0xff00000000000000 << 64) != (unsigned __int128)0x9600000000000000 << 64
// path: in[16] == '\0'
// path: select: u128le(in) == 1
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef unsigned __int128 u128;

int main(void) {
    unsigned char in[17];
    u128 x;
    if (read(0, in, 17) != 17)
        return 2;
    memcpy(&x, in, 16);
    puts((__int128)x < 0 ? "negative" : "not negative");
    u128 sum = x + ((u128)1 << 127);
    puts(sum < x ? "carry" : "no carry");
    puts((uint64_t)(x >> 60) == 0x0f0e0d0c0b0a0908ull << 4 ? "middle" : "not the middle");
    puts((x * 10) >> 120 == 0x96 ? "times ten" : "times other");
    if (in[16])
        puts((uint8_t)(x / in[16]) == 0x56 ? "third" : "not third");
    puts(x == 1 ? "one" : "more");
    return 0;
}
