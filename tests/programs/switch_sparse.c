// A sparse switch over a 32-bit word: four-character tags.
// opt: all
// run
// input: "IHDR"
// stdout: "header\n"
// exit: 0
// path: length: len > 3
// path: switch: u32le(in) == 0x52444849
// other: "IEND"
// run
// input: "abcd"
// stdout: "unknown, may be skipped\n"
// exit: 1
// path: length: len > 3
// path: switch: u32le(in) != 0x52444849 && u32le(in) != 0x45544c50 && u32le(in) != 0x54414449 && u32le(in) != 0x444e4549
// path: select: (u32le(in) & 32) != 0
// same: "abce"
// other: "IEND"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define TAG(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

int main(void) {
    uint32_t tag;
    if (read(0, &tag, 4) != 4)
        return 2;
    switch (tag) {
    case TAG('I', 'H', 'D', 'R'): puts("header"); break;
    case TAG('P', 'L', 'T', 'E'): puts("palette"); break;
    case TAG('I', 'D', 'A', 'T'): puts("data"); break;
    case TAG('I', 'E', 'N', 'D'): puts("end"); break;
    default: puts(tag & 0x20 ? "unknown, may be skipped" : "unknown, critical"); return 1;
    }
    return 0;
}
