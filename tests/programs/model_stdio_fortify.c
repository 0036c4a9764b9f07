// The fortified forms of fgets, fread and read.
// flags: -O2 -D_FORTIFY_SOURCE=2
// run
// input: "line\nabcdXY"
// stdout: "line\nabcd\nXY\n"
// exit: 0
// path: length: len > 0
// path: model: in[0] != '\n'
// path: length: len > 1
// path: model: in[1] != '\n'
// path: length: len > 2
// path: model: in[2] != '\n'
// path: length: len > 3
// path: model: in[3] != '\n'
// path: length: len > 4
// path: model: in[4] == '\n'
// path: length: len > 8
// path: length: len > 10
// path: in[4] == '\n'
// path: select: in[5] == 'a' && in[6] == 'b' && in[7] == 'c' && in[8] == 'd'
// path: in[9] == 'X'
// path: select: in[10] == 'Y'
// must: in[5] == 'a'
// must: in[9] == 'X'
// other: "lines\nabcdXY"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t any(size_t n) {
    __asm__("" : "+r"(n));
    return n;
}

int main(void) {
    char line[16], block[8], rest[8];
    setvbuf(stdin, NULL, _IONBF, 0);
    if (!fgets(line, (int)any(sizeof line), stdin) || fread(block, 1, any(4), stdin) != 4)
        return 1;
    if (read(0, rest, any(2)) != 2)
        return 2;
    fputs(line[4] == '\n' ? line : "long\n", stdout);
    puts(memcmp(block, "abcd", 4) == 0 ? "abcd" : "other");
    puts(rest[0] == 'X' && rest[1] == 'Y' ? "XY" : "no XY");
    return 0;
}
