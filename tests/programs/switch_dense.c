// A dense switch over one byte is one event, and the case is its outcome.
// opt: all
// run
// input: "+"
// stdout: "plus\n"
// exit: 0
// path: length: len > 0
// path: switch: in[0] == '+'
// must: in[0] == '+'
// other: "-"
// run
// input: "?"
// stdout: "unknown\n"
// exit: 0
// path: length: len > 0
// path: switch: in[0] != '*' && in[0] != '+' && in[0] != ',' && in[0] != '-' && …
// same: "!"
// other: "+"
#include <stdio.h>

int main(void) {
    switch (getchar()) {
    case '*': puts("times"); break;
    case '+': puts("plus"); break;
    case ',': puts("comma"); break;
    case '-': puts("minus"); break;
    case '.': puts("dot"); break;
    case '/': puts("over"); break;
    case EOF: puts("nothing"); return 1;
    default: puts("unknown");
    }
    return 0;
}
