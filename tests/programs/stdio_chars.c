// getchar, getc, fgetc, ungetc and the unlocked forms on one stream.
// run
// input: "12+34-"
// stdout: "more than forty\nminus\nend\n"
// exit: 0
// path: length: len > 0
// path: in[0] > '/'
// path: in[0] < ':'
// path: length: len > 1
// path: in[1] > '/'
// path: in[1] < ':'
// path: length: len > 2
// path: in[2] <= '/'
// path: length: len > 3
// path: in[3] > '/'
// path: in[3] < ':'
// path: length: len > 4
// path: in[4] > '/'
// path: in[4] < ':'
// path: length: len > 5
// path: in[5] <= '/'
// path: length: len <= 6
// path: in[2] == '+'
// path: select: (in[3] - '0') * 10 - 48 + in[4] + ((in[0] - '0') * 10 - 48 + in[1]) > 40
// path: select: in[5] == '-'
// same: "56+78-"
// other: "12+3a-"
#include <stdio.h>

static int number(void) {
    int n = 0, c;
    while ((c = getc(stdin)) >= '0' && c <= '9')
        n = n * 10 + (c - '0');
    ungetc(c, stdin);
    return n;
}

int main(void) {
    int a = number(), op = getchar(), b = number();
    int after = fgetc(stdin), end = getchar_unlocked();
    if (op != '+')
        return puts("no sum"), 1;
    puts(a + b > 40 ? "more than forty" : "forty or less");
    puts(after == '-' ? "minus" : "other");
    puts(end == EOF ? "end" : "more");
    return 0;
}
