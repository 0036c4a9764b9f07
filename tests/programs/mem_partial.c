// A byte is stored into a labelled int, and a labelled byte into a concrete int; then both are loaded.
// opt: all
// run
// input: "\x11\x22\x33\x44"
// stdout: "patched\ngrafted\nboth\n"
// exit: 0
// path: length: len > 3
// path: select: ((uint32_t)u16le(in+2) << 16 | in[0]) == 0x44330011
// path: select: ((uint32_t)in[2] << 24 | 0xbbccdd) == 0x33bbccdd
// path: select: ((uint32_t)in[2] << 24 | (187 << 16 | u16le(in+2))) == 0x33bb4433
// free: 1
// must: in[2] == 0x33
// other: "\x11\x22\x33\x45"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    uint32_t x, y = 0xaabbccdd;
    unsigned char b;
    if (read(0, &x, 4) != 4)
        return 2;
    volatile uint32_t *px = &x;
    ((unsigned char *)px)[1] = 0;
    puts(*px == 0x44330011 ? "patched" : "other");
    memcpy(&b, (unsigned char *)px + 2, 1);
    volatile uint32_t *py = &y;
    ((volatile unsigned char *)py)[3] = b;
    puts(*py == 0x33bbccdd ? "grafted" : "other");
    *(volatile uint16_t *)py = (uint16_t)(*px >> 16);
    puts(*py == 0x33bb4433 ? "both" : "other");
    return 0;
}
