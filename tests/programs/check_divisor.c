// A labelled divisor that may be zero is a check, although the program has no branch there.
// opt: all
// run
// input: "\x64\x04"
// stdout: "a quarter\n"
// exit: 0
// path: length: len > 1
// path: check: in[1] != '\0'
// path: select: in[0] / in[1] == 25
// other: "\x64\x00"
// run
// input: "\x64\x00"
// stdout: ""
// signal: 8
// path: length: len > 1
// path: check: in[1] == '\0'
#include <stdio.h>
#include <unistd.h>

int main(void) {
    volatile unsigned char in[2];
    if (read(0, (void *)in, 2) != 2)
        return 2;
    unsigned q = in[0] / in[1];
    puts(q == 25 ? "a quarter" : "other");
    return 0;
}
