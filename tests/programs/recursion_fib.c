// A recursion whose depth and arguments are both input: calls with labelled arguments and results.
// run
// input: "\x06"
// stdout: "eight\n"
// exit: 8
// path: length: len > 0
// path: in[0] % 9 >= 2
// path: (uint32_t)(in[0] % 9 - 1) >= 2
// path: (uint32_t)(in[0] % 9 - 2) >= 2
// path: (uint32_t)(in[0] % 9 - 3) >= 2
// path: (uint32_t)(in[0] % 9 - 4) >= 2
// path: (uint32_t)(in[0] % 9 - 5) < 2
// path: (uint32_t)(in[0] % 9 - 4) < 4
// path: (uint32_t)(in[0] % 9 - 3) < 4
// path: (uint32_t)(in[0] % 9 - 2) >= 4
// path: (uint32_t)(in[0] % 9 - 5) < 2
// path: (uint32_t)(in[0] % 9 - 4) < 4
// path: (uint32_t)(in[0] % 9 - 1) >= 4
// path: (uint32_t)(in[0] % 9 - 4) >= 2
// path: (uint32_t)(in[0] % 9 - 5) < 2
// path: (uint32_t)(in[0] % 9 - 4) < 4
// path: (uint32_t)(in[0] % 9 - 3) < 4
// path: in[0] % 9 >= 4
// path: (uint32_t)(in[0] % 9 - 3) >= 2
// path: (uint32_t)(in[0] % 9 - 4) >= 2
// path: (uint32_t)(in[0] % 9 - 5) < 2
// path: (uint32_t)(in[0] % 9 - 4) < 4
// path: (uint32_t)(in[0] % 9 - 3) < 4
// path: (uint32_t)(in[0] % 9 - 2) >= 4
// path: …
// other: "\x07"
#include <stdio.h>

__attribute__((noinline)) static unsigned fib(unsigned n) {
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

int main(void) {
    unsigned n = (unsigned)getchar() % 9;
    unsigned f = fib(n);
    puts(f == 8 ? "eight" : "other");
    return (int)f;
}
