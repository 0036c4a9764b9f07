// qsort with an instrumented callback: every comparison is a decision on the two elements.
// run
// input: "cab"
// stdout: "sorted\na first\n"
// exit: 0
// path: length: len > 2
// path: model: in[1] - in[2] <= 0
// path: model: in[0] - in[1] > 0
// path: model: in[0] - in[2] > 0
// path: in[1] <= in[2]
// path: select: in[2] <= in[0]
// path: select: in[1] == 'a'
// same: "xap"
// other: "abc"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int by_value(const void *a, const void *b) {
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

int main(void) {
    unsigned char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    qsort(in, 3, 1, by_value);
    puts(in[0] <= in[1] && in[1] <= in[2] ? "sorted" : "impossible");
    puts(in[0] == 'a' ? "a first" : "other first");
    return 0;
}
