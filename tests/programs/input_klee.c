// A program written for KLEE compiles unchanged: make_symbolic, assume, range.
// plain: no
// run
// input: "ab\x07\x00\x00\x00\x03\x00\x00\x00"
// stdout: "rising\nseven\nthree\n"
// exit: 0
// path: assume: in[0] != '\0'
// path: select: (int8_t)in[0] < (int8_t)in[1]
// path: select: u32le(in+2) == 7
// path: assume: u32le(in+6) <= 9
// path: select: u32le(in+6) == 3
// other: "ba\x07\x00\x00\x00\x03\x00\x00\x00"
#include <klee/klee.h>
#include <stdio.h>

int main(void) {
    char s[2];
    klee_make_symbolic(s, sizeof s, "s");
    klee_assume(s[0] != 0);
    puts(s[0] < s[1] ? "rising" : "falling");
    int n = klee_int("n");
    puts(n == 7 ? "seven" : "other");
    int m = klee_range(0, 10, "m");
    puts(m == 3 ? "three" : "in range");
    return 0;
}
