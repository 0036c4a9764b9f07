// memcpy and assignments copy labels; the destination loses its old labels.
// opt: all
// run
// input: "abcdefgh"
// stdout: "g\ndot\ncovered\nsame\n"
// exit: 0
// path: length: len > 7
// path: select: (u32le(in+4) & 0xff0000) == 0x670000
// must: in[6] == 'g'
// free: 2 3
// other: "abcdefxh"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[8], a[8] = "........", b[16];
    if (read(0, in, 8) != 8)
        return 2;
    memcpy(a, in + 4, 4);
    memcpy(b, "concrete", 8);
    memcpy(b + 8, a, 8);
    memcpy(in + 2, "XY", 2);
    puts(b[10] == 'g' ? "g" : "no g");
    puts(b[12] == '.' ? "dot" : "impossible");
    puts(in[2] == 'X' && in[3] == 'Y' ? "covered" : "impossible");
    puts(memcmp(b, "concrete", 8) ? "impossible" : "same");
    return 0;
}
