// A table on the heap that contains labelled entries: reads of it must not become lookups.
// opt: all
// run
// input: "\x03\x07"
// stdout: "nine\nseven\nzero\n"
// exit: 0
// path: length: len > 1
// path: select: table_…[in[0] & 7] == 9
// path: select: table_…[in[0] & 7] == 7
// path: select: table_…[in[0] & 7] == 0
// other: "\x03\x08"
// run
// input: "\x01\x07"
// stdout: "other\nother\nother\n"
// exit: 0
// path: length: len > 1
// path: select: table_…[in[0] & 7] != 9
// path: select: table_…[in[0] & 7] != 7
// path: select: table_…[in[0] & 7] != 0
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    unsigned char in[2];
    int *t = malloc(8 * sizeof *t);
    if (read(0, in, 2) != 2)
        return 2;
    for (int i = 0; i < 8; i++)
        t[i] = i * i;
    puts(t[in[0] & 7] == 9 ? "nine" : "other");
    t[3] = in[1];
    puts(t[in[0] & 7] == 7 ? "seven" : "other");
    t[3] = 0;
    puts(t[in[0] & 7] == 0 ? "zero" : "other");
    free(t);
    return 0;
}
