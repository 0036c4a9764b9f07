// ungetc of a different character than the one that was read: the next read returns the pushed one.
// run
// input: "ab"
// stdout: "pushed\nb\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: select: in[1] == 'b'
// free: 0
// other: "ac"
#include <stdio.h>

int main(void) {
    int a = getchar();
    if (a == EOF)
        return 1;
    ungetc('#', stdin);
    int pushed = getchar(), b = getchar();
    puts(pushed == '#' ? "pushed" : "impossible");
    puts(b == 'b' ? "b" : "not b");
    return 0;
}
