// Unaligned loads and stores that cross words, lines and the blocks of the dirty map.
// opt: all
// run
// input: "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
// stdout: "shifted\none\nacross\nsixteen\nhalf\n"
// exit: 0
// path: length: len > 15
// path: select: ((uint64_t)u24le(in) << 40 | ((uint64_t)u32le(in) << 8 | in[3]) & 0xffffffffff) != 0x403020104
// path: select: in[0] == 1
// path: select: (u64le(in+8) & 0xffffffff00) == 0xd0c0b0a00
// path: select: (u64le(in+8) & 0xff00000000000000) == 0x1000000000000000
// path: select: u16le(in+3) == 1284
// must: in[3] == 4
// other: "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x11"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t load(const char *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

int main(void) {
    static char area[1024] __attribute__((aligned(256)));
    char in[16];
    if (read(0, in, 16) != 16)
        return 2;
    for (int at = 250; at < 263; at += 4)
        memcpy(area + at, in, 8);
    puts(load(area + 253) == 0x0403020104030201ull >> 24 << 24 >> 24 ? "never" : "shifted");
    puts((load(area + 250) & 0xff) == 1 ? "one" : "other");
    memcpy(area + 509, in + 8, 8);
    uint32_t across;
    memcpy(&across, area + 510, 4);
    puts(across == 0x0d0c0b0a ? "across" : "other");
    puts(load(area + 509) >> 56 == 16 ? "sixteen" : "other");
    uint16_t half;
    memcpy(&half, area + 265, 2);
    puts(half == 0x0504 ? "half" : "other");
    return 0;
}
