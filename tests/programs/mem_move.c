// memmove with overlap, forwards and backwards, of labelled bytes.
// opt: all
// run
// input: "abcdefgh"
// stdout: "moved up\nto the end\ntwo apart\nmoved down\n"
// exit: 0
// path: length: len > 7
// path: select: in[0] == 'a'
// path: select: in[4] == 'e'
// path: select: (int8_t)in[2] - 2 == (int8_t)in[0]
// path: select: in[2] == 'c'
// must: in[0] == 'a'
// free: 5 6 7
// other: "bbcdefgh"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[8];
    if (read(0, in, 8) != 8)
        return 2;
    memmove(in + 3, in, 5);
    puts(in[3] == 'a' ? "moved up" : "other");
    puts(in[7] == 'e' ? "to the end" : "other");
    memmove(in, in + 2, 6);
    puts(in[1] == in[3] - 2 ? "two apart" : "other");
    puts(in[0] == 'c' ? "moved down" : "other");
    return 0;
}
