// The classic loop of fgetc until EOF; an empty input is a separate path.
// opt: all
// run
// input: ""
// stdout: "0 lines, nothing at all\n"
// exit: 0
// path: length: len <= 0
// other: "x"
// run
// input: "a\nb\n"
// stdout: "2 lines\n"
// exit: 0
// path: length: len > 0
// path: in[0] != '\n'
// path: length: len > 1
// path: in[1] == '\n'
// path: length: len > 2
// path: in[2] != '\n'
// path: length: len > 3
// path: in[3] == '\n'
// path: length: len <= 4
// same: "x\ny\n"
// other: "a\nb"
#include <stdio.h>

int main(void) {
    int c, lines = 0, any = 0;
    while ((c = fgetc(stdin)) != EOF) {
        any = 1;
        if (c == '\n')
            lines++;
    }
    printf("%d lines%s\n", lines, any ? "" : ", nothing at all");
    return feof(stdin) && !ferror(stdin) ? 0 : 1;
}
