// getc_unlocked takes bytes from the buffer without a call: only the end of the input shows how many.
// opt: all
// run
// input: "four"
// stdout: "4\n"
// exit: 0
// path: length: len > 0
// path: length: len > 3
// path: length: len <= 4
// same: "five"
// other: "for"
// other: "fours"
#include <stdio.h>

int main(void) {
    int n = 0;
    while (getc_unlocked(stdin) != EOF)
        n++;
    printf("%d\n", n);
    return 0;
}
