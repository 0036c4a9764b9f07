// An array on the stack, filled at run time with concrete values, read at a symbolic index.
// opt: all
// run
// input: "\x05"
// stdout: "thirteen\n"
// exit: 0
// path: length: len > 0
// path: select: table_…[in[0] & 15] == 13
// same: "\x15"
// other: "\x06"
#include <stdio.h>

int main(void) {
    int prime[16], n = 0;
    for (int i = 2; n < 16; i++) {
        int ok = 1;
        for (int j = 2; j * j <= i; j++)
            ok &= i % j != 0;
        if (ok)
            prime[n++] = i;
    }
    int c = getchar();
    puts(prime[c & 15] == 13 ? "thirteen" : "another prime");
    return 0;
}
