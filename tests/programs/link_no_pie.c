// Compiled and linked with -no-pie: the fast half has fixed addresses, the symbolic half does not.
// flags: -O2 -fno-pie -no-pie
// run
// input: "\x02"
// stdout: "seven\n"
// exit: 0
// path: length: len > 0
// path: select: (in[0] & 3) == 2
// same: "\x06"
// other: "\x01"
#include <stdio.h>

static const int table[4] = {5, 6, 7, 8};
static const int *const middle = table + 1;

int main(void) {
    int c = getchar() & 3;
    puts(middle[c - 1] == 7 ? "seven" : "other");
    return 0;
}
