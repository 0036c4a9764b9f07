// Unions: one member is written and another is read; parts of a word are changed.
// opt: all
// run
// input: "\x78\x56\x34\x12"
// stdout: "word\nhalf\npart\none byte cleared\ndoubled\n"
// exit: 0
// path: length: len > 3
// path: u32le(in) == 0x12345678
// path: u16le(in+2) == 4660
// path: (u32le(in) & 4095) == 1656
// path: select: ((uint32_t)u16le(in+2) << 16 | in[0]) == 0x12340078
// path: select: ((uint32_t)u16le(in+2) << 16 | u16le(in+2)) == 0x12341234
// must: in[0] == 0x78
// must: in[3] == 0x12
// other: "\x78\x56\x34\x13"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

union view { uint32_t word; uint16_t half[2]; uint8_t byte[4]; struct { uint32_t low : 12, high : 20; } part; };

int main(void) {
    union view v, w;
    if (read(0, v.byte, 4) != 4)
        return 2;
    if (v.word == 0x12345678)
        puts("word");
    if (v.half[1] == 0x1234)
        puts("half");
    if (v.part.low == 0x678)
        puts("part");
    w = v;
    w.byte[1] = 0;
    puts(w.word == 0x12340078 ? "one byte cleared" : "otherwise");
    w.half[0] = v.half[1];
    puts(w.word == 0x12341234 ? "doubled" : "otherwise");
    return 0;
}
