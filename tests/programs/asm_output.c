// The outputs of inline assembly are concrete, even if its inputs are labelled.
// run
// input: "\x05\x06"
// stdout: "eight\nsix\n"
// exit: 0
// path: length: len > 1
// path: select: in[1] == 6
// free: 0
// other: "\x05\x07"
// losses: asm
// diverges: inline assembly is without instrumentation
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    unsigned x = in[0], y;
    __asm__("leal 3(%1), %0" : "=r"(y) : "r"(x));
    puts(y == 8 ? "eight" : "other");
    puts(in[1] == 6 ? "six" : "other");
    return 0;
}
