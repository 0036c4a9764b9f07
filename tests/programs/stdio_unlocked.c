// getchar_unlocked and getc_unlocked are inline in the header and read the stream's buffer directly.
// opt: all
// run
// input: "ab;c"
// stdout: "2 before, end\n"
// exit: 0
// path: length: len > 0
// path: in[0] != ';'
// path: in[1] != ';'
// path: in[2] == ';'
// path: length: len > 3
// path: length: len <= 4
// same: "xy;z"
// other: "ab;"
// other: "ab"
#include <stdio.h>

int main(void) {
    int c, n = 0;
    while ((c = getchar_unlocked()) != EOF && c != ';')
        n++;
    getc_unlocked(stdin);
    printf("%d before, %s\n", n, getchar_unlocked() == EOF ? "end" : "more");
    return 0;
}
