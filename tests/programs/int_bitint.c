// Odd widths by _BitInt: 7, 17, 33 and 100 bits.
// opt: all
// run
// input: "\x3f\xff\xff\x01\x00\x00\x00\x80\x02"
// stdout: "greatest of seven bits\nwrapped at 17\nfits 32\ntop is 2\n"
// exit: 0
// path: length: len > 8
// path: (uint32_t)in[0] << 25 == 0x7e000000
// path: select: (u32le(in+1) & 0x1ffff) == 0x1ffff
// path: select: (u40le(in+4) & 0x1ffffffff) <= 0x80000000
// path: select: (u64le(in+1) & 0xff00000000000000) == 0x200000000000000
// other: "\x3e\xff\xff\x01\x00\x00\x00\x80\x02"
// run
// input: "\x7f\x00\x00\x00\x00\x00\x00\x00\x00"
// stdout: "negative\nnot wrapped\nfits 32\ntop is other\n"
// exit: 0
// path: length: len > 8
// path: (uint32_t)in[0] << 25 != 0x7e000000
// path: select: (int)((uint32_t)in[0] << 25) < 0
// path: select: (u32le(in+1) & 0x1ffff) != 0x1ffff
// path: select: (u40le(in+4) & 0x1ffffffff) <= 0x80000000
// path: select: (u64le(in+1) & 0xff00000000000000) != 0x200000000000000
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[9];
    if (read(0, in, 9) != 9)
        return 2;
    _BitInt(7) seven = (_BitInt(7))in[0];
    unsigned _BitInt(17) seventeen;
    uint32_t x;
    uint64_t y;
    memcpy(&x, in + 1, 4);
    memcpy(&y, in + 1, 8);
    seventeen = (unsigned _BitInt(17))x;
    unsigned _BitInt(33) thirtythree = (unsigned _BitInt(33))(y >> 24);
    unsigned _BitInt(100) hundred = (unsigned _BitInt(100))y << 36;
    puts(seven == 63 ? "greatest of seven bits" : seven < 0 ? "negative" : "other");
    seventeen += 1;
    puts(seventeen == 0 ? "wrapped at 17" : "not wrapped");
    puts(thirtythree > 0x80000000u ? "needs 33 bits" : "fits 32");
    puts(hundred >> 92 == 2 ? "top is 2" : "top is other");
    return 0;
}
