// __builtin_expect, __builtin_unreachable, __builtin_constant_p and likely branches change nothing.
// opt: all
// run
// input: "b3"
// stdout: "unexpected\nvariable\nten\n"
// exit: 0
// path: length: len > 1
// path: in[0] != 'a'
// path: switch: (in[1] & 3) == 3
// path: select: (in[1] & 3) == 3
// same: "c3"
// other: "a3"
#include <stdio.h>
#include <unistd.h>

static int grade(int c) {
    switch (c & 3) {
    case 0: return 40;
    case 1: return 30;
    case 2: return 20;
    case 3: return 10;
    }
    __builtin_unreachable();
}

int main(void) {
    unsigned char in[2];
    if (__builtin_expect(read(0, in, 2) != 2, 0))
        return 2;
    if (__builtin_expect(in[0] == 'a', 1))
        puts("expected");
    else
        puts("unexpected");
    puts(__builtin_constant_p(in[0]) ? "constant" : "variable");
    puts(grade(in[1]) == 10 ? "ten" : "other");
    return 0;
}
