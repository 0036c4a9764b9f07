// Euclid's algorithm on two input bytes: every remainder is a check and a branch.
// opt: all
// run
// input: "\x30\x12"
// stdout: "gcd 6 in 3 steps\n"
// exit: 1
// path: length: len > 1
// path: in[1] != '\0'
// path: check: in[1] != '\0'
// path: in[0] % in[1] != 0
// path: check: in[0] % in[1] != 0
// path: in[1] % (in[0] % in[1]) != 0
// path: check: in[1] % (in[0] % in[1]) != 0
// path: in[0] % in[1] % (in[1] % (in[0] % in[1])) == 0
// other: "\x31\x12"
// run
// input: "\x00\x00"
// stdout: "gcd 0 in 0 steps\n"
// exit: 0
// path: length: len > 1
// path: in[1] == '\0'
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    unsigned a = in[0], b = in[1], steps = 0;
    while (b) {
        unsigned r = a % b;
        a = b;
        b = r;
        steps++;
    }
    printf("gcd %u in %u steps\n", a, steps);
    return a == 6;
}
