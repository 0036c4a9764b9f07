// Variable arguments: a sum of labelled ints, ended by a sentinel.
// opt: all
// run
// input: "\x05\x07\x09"
// stdout: "twenty-one\n"
// exit: 0
// path: length: len > 2
// path: in[1] > -1
// path: in[2] > -1
// path: select: in[2] + (in[1] + in[0]) == 21
// same: "\x07\x05\x09"
// other: "\x05\x07\x0a"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static int sum(int first, ...) {
    va_list ap;
    int total = 0;
    va_start(ap, first);
    for (int x = first; x >= 0; x = va_arg(ap, int))
        total += x;
    va_end(ap);
    return total;
}

int main(void) {
    unsigned char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    puts(sum(in[0], in[1], in[2], -1) == 21 ? "twenty-one" : "other");
    return 0;
}
