// memchr, memrchr, memmem, memcmp, bcmp, memset and mempcpy on labelled bytes.
// run
// input: "abc,def,ghi"
// stdout: "3 7\ndef\nbefore abd\nghi\n11 masked\n"
// exit: 0
// path: length: len > 10
// path: model: in[0] != ','
// path: model: in[1] != ','
// path: model: in[2] != ','
// path: model: in[3] == ','
// path: model: in[10] != ','
// path: model: in[9] != ','
// path: model: in[8] != ','
// path: model: in[7] == ','
// path: model: u24le(in) != 0x666564
// path: model: u24le(in+1) != 0x666564
// path: model: u24le(in+2) != 0x666564
// path: model: u24le(in+3) != 0x666564
// path: model: u24le(in+4) == 0x666564
// path: select: (in[0] != 'a' ? in[0] - 'a' : in[1] != 'b' ? in[1] - 'b' : in[2] - 'd') < 0
// path: select: in[8] == 'g' && in[9] == 'h' && in[10] == 'i'
// other: "abcd,ef,ghi"
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int main(void) {
    char in[11], copy[16];
    if (read(0, in, 11) != 11)
        return 2;
    char *first = memchr(in, ',', 11), *last = memrchr(in, ',', 11);
    if (!first)
        return puts("no comma"), 1;
    printf("%d %d\n", (int)(first - in), (int)(last - in));
    char *def = memmem(in, 11, "def", 3);
    printf("%s\n", def ? "def" : "no def");
    printf("%s\n", memcmp(in, "abd", 3) < 0 ? "before abd" : "after abd");
    printf("%s\n", bcmp(in + 8, "ghi", 3) ? "no ghi" : "ghi");
    char *end = mempcpy(copy, in, 11);
    memset(copy, '-', 4);
    printf("%d %s\n", (int)(end - copy), copy[0] == '-' && copy[4] == in[4] ? "masked" : "impossible");
    return 0;
}
