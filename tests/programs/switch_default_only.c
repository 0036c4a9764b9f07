// A switch with only a default decides nothing.
// opt: all
// run
// input: "q"
// stdout: "always\nq\n"
// exit: 0
// path: length: len > 0
// path: select: in[0] == 'q'
// must: in[0] == 'q'
#include <stdio.h>

int main(void) {
    int c = getchar();
    switch (c) {
    default:
        puts("always");
    }
    puts(c == 'q' ? "q" : "other");
    return 0;
}
