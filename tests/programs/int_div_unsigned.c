// Unsigned division and remainder by input and by constants (which compilers turn into multiplications).
// opt: all
// run
// input: "\xc8\x07\x10\x27\x00\x00\x0a"
// stdout: "28 rest 4\nten thousands\nfour over\nabove\n"
// exit: 0
// path: length: len > 6
// path: in[1] != '\0'
// path: check: in[1] != '\0'
// path: check: in[1] != '\0'
// path: in[0] / in[1] == 28
// path: select: in[0] / in[1] == 28 && in[0] % in[1] == 4
// path: select: u32le(in+2) - 0x2710 < 1000
// path: select: u32le(in+2) % 7 == 4
// path: in[6] != '\0'
// path: check: in[6] != '\0'
// path: select: ((uint64_t)u32le(in+2) << 20) / in[6] > 0x3b9aca00
// other: "\xc8\x08\x10\x27\x00\x00\x0a"
// run
// input: "\x00\x00\x00\x00\x00\x00\x01"
// stdout: "no divisor\n"
// exit: 1
// path: length: len > 6
// path: in[1] == '\0'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[7];
    if (read(0, in, 7) != 7)
        return 2;
    if (in[1] == 0) {
        puts("no divisor");
        return 1;
    }
    unsigned q = in[0] / in[1], r = in[0] % in[1];
    printf("%s\n", q == 28 && r == 4 ? "28 rest 4" : "other quotient");
    uint32_t x;
    memcpy(&x, in + 2, 4);
    printf("%s\n", x / 1000 == 10 ? "ten thousands" : "other");
    printf("%s\n", x % 7 == 4 ? "four over" : "not four over");
    uint64_t y = (uint64_t)x << 20;
    if (in[6])
        printf("%s\n", y / in[6] > 1000000000 ? "above" : "below");
    return 0;
}
