// A read loop to the end of the input: where the input ends is a condition on its length.
// opt: all
// run
// input: "hello"
// stdout: "5 bytes\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: length: len > 2
// path: length: len > 3
// path: length: len > 4
// path: length: len <= 5
// same: "HELLO"
// other: "hell"
// other: "hello!"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char c;
    int n = 0;
    while (read(0, &c, 1) == 1)
        n++;
    printf("%d bytes\n", n);
    return n == 5 ? 0 : 1;
}
