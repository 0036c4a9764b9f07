// An index that may exceed its table is a check with the object's size, although there is no branch.
// run
// input: "2"
// stdout: "thirty\n"
// exit: 0
// path: length: len > 0
// path: in[0] >= '0'
// path: in[0] <= '9'
// path: check: (uint64_t)(in[0] * 4 - 192) <= 28
// path: select: table[in[0] - 48] == 30
// other: "3"
// other: "9"
#include <stdio.h>

static const int table[8] = {10, 20, 30, 40, 50, 60, 70, 80};

int main(void) {
    int c = getchar();
    if (c < '0' || c > '9')
        return 1;
    // '8' and '9' exceed the table; only the check shows it.
    printf("%s\n", table[c - '0'] == 30 ? "thirty" : "other");
    return 0;
}
