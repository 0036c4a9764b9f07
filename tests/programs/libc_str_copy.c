// strcpy, stpcpy, strncpy, strcat, strncat copy labels; the padding has none.
// run
// input: "ab\x00cd"
// stdout: "four\ntwo\npadded\na\n"
// exit: 0
// path: length: len > 4
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] == '\0'
// path: model: in[3] != '\0'
// path: select: in[0] == 'a'
// other: "abc\x00d"
// same: "ac\x00xd"
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[6] = {0}, a[16], b[16], c[8];
    if (read(0, in, 5) != 5)
        return 2;
    strcpy(a, in);
    char *end = stpcpy(b, in);
    strcat(a, "-");
    strncat(a, in + 3, 1);
    strncpy(c, in, sizeof c);
    puts(strlen(a) == 4 ? "four" : "other length");
    puts(end - b == 2 ? "two" : "other end");
    puts(c[7] == 0 ? "padded" : "impossible");
    puts(a[0] == 'a' ? "a" : "not a");
    return 0;
}
