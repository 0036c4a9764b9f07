// Several longjmps across many instrumented frames: argument slots must not keep stale labels.
// opt: all
// run
// input: "abcd"
// stdout: "1\n"
// exit: 0
// path: length: len > 3
// path: select: in[0] != 'c'
// path: select: in[1] != 'c'
// path: select: in[2] == 'c'
// path: select: in[3] != 'c'
// other: "abed"
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

static jmp_buf top;

__attribute__((noinline)) static int dive(int depth, char c, int plain) {
    if (depth == 0)
        longjmp(top, c == 'c' ? 2 : 1);
    return dive(depth - 1, c, plain + 1) + plain;
}

__attribute__((noinline)) static int concrete(int depth, char c, int plain) {
    return depth + c + plain > 100 ? 1 : 0;
}

int main(void) {
    char in[4];
    static volatile int i, hits;
    if (read(0, in, 4) != 4)
        return 2;
    for (i = 0; i < 4; i++) {
        int r = setjmp(top);
        if (r == 0)
            dive(5, in[i], 0);
        else if (r == 2)
            hits++;
        hits += concrete(i, 'A', 1);
    }
    printf("%d\n", hits);
    return 0;
}
