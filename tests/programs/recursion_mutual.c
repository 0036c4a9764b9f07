// Two functions call each other; the innermost call decides the result.
// opt: all
// run
// input: "\x07"
// stdout: "odd\n"
// exit: 0
// path: length: len > 0
// path: (in[0] & 15) != 0
// path: (in[0] & 15) != 1
// path: (in[0] & 15) != 2
// path: (in[0] & 15) != 3
// path: (in[0] & 15) != 4
// path: (in[0] & 15) != 5
// path: (in[0] & 15) != 6
// path: (in[0] & 15) == 7
// other: "\x06"
#include <stdio.h>

static int even(int n);
__attribute__((noinline)) static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__attribute__((noinline)) static int even(int n) { return n == 0 ? 1 : odd(n - 1); }

int main(void) {
    int n = getchar() & 15;
    puts(even(n) ? "even" : "odd");
    return 0;
}
