// Recursive descent over brackets: labels in the frames of a recursion.
// opt: all
// run
// input: "[[][]]"
// stdout: "depth 2\n"
// exit: 0
// path: length: len > 0
// path: in[0] == '['
// path: length: len > 1
// path: in[1] == '['
// path: length: len > 2
// path: in[2] != '['
// path: in[2] == ']'
// path: length: len > 3
// path: in[3] == '['
// path: length: len > 4
// path: in[4] != '['
// path: in[4] == ']'
// path: length: len > 5
// path: in[5] != '['
// path: in[5] == ']'
// path: length: len <= 6
// other: "[[][]["
// run
// input: "[]]"
// stdout: "unbalanced\n"
// exit: 1
// path: length: len > 0
// path: in[0] == '['
// path: length: len > 1
// path: in[1] != '['
// path: in[1] == ']'
// path: length: len > 2
// path: in[2] != '['
#include <stdio.h>

static int peek;
static void next(void) { peek = getchar(); }

static int nest(int depth) {
    int deepest = depth;
    while (peek == '[') {
        next();
        int d = nest(depth + 1);
        if (d < 0)
            return d;
        if (d > deepest)
            deepest = d;
        if (peek != ']')
            return -1;
        next();
    }
    return deepest;
}

int main(void) {
    next();
    int depth = nest(0);
    if (depth < 0 || peek != EOF)
        return puts("unbalanced"), 1;
    printf("depth %d\n", depth);
    return 0;
}
