// A table of structs: fields of different widths at a symbolic index.
// opt: all
// run
// input: "\x02"
// stdout: "five long\nflagged\nfar below\n"
// exit: 0
// path: length: len > 0
// path: select: (uint32_t)((in[0] & 3) - 1) < 2
// path: select: (in[0] & 3) == 2
// same: "\x06"
// other: "\x03"
#include <stdint.h>
#include <stdio.h>

static const struct { uint8_t length; uint16_t flags; int32_t bias; } code[4] = {
    {3, 0x0101, -7}, {5, 0x0202, 100}, {5, 0x8001, -100000}, {9, 0x0004, 0},
};

int main(void) {
    int i = getchar() & 3;
    puts(code[i].length == 5 ? "five long" : "other length");
    puts(code[i].flags & 0x8000 ? "flagged" : "plain");
    puts(code[i].bias < -1000 ? "far below" : "near");
    return 0;
}
