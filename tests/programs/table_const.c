// A global constant table at a symbolic index: a lookup node, invertible by the solver.
// opt: all
// run
// input: "G"
// stdout: "the prize\n"
// exit: 0
// path: length: len > 0
// path: in[0] >= 'A'
// path: in[0] <= 'Z'
// path: select: score[in[0] - 65] == 99
// must: in[0] == 'G'
// other: "H"
#include <stdio.h>

static const unsigned char score[26] = {1, 3, 3, 2,  1, 4, 99, 4, 1, 8, 5, 1, 3,
                                        1, 1, 3, 10, 1, 1, 1,  1, 4, 4, 8, 4, 10};

int main(void) {
    int c = getchar();
    if (c < 'A' || c > 'Z')
        return 1;
    puts(score[c - 'A'] == 99 ? "the prize" : "something else");
    return 0;
}
