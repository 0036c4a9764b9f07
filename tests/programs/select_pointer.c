// The input chooses a pointer that is read: the choice is a decision, or the address is pinned, but it is never lost.
// opt: all
// run
// input: "Lxy"
// stdout: "x\n"
// exit: 0
// path: length: len > 2
// path: in[0] == 'L'
// path: select: in[1] == 'x'
// must: in[1] == 'x'
// free: 2
// other: "Rxy"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[3], left, right;
    if (read(0, in, 3) != 3)
        return 2;
    left = in[1];
    right = in[2];
    const char *p = in[0] == 'L' ? &left : &right;
    puts(*p == 'x' ? "x" : "not x");
    return 0;
}
