// A program written for CREST compiles unchanged.
// plain: no
// run
// input: "\x03\x00\x00\x00\x04\x00\x00\x00\x05"
// stdout: "a right triangle\n"
// exit: 0
// path: (int)u32le(in) >= 1
// path: (int)u32le(in+4) >= 1
// path: u32le(in) <= 100
// path: u32le(in+4) <= 100
// path: u32le(in+4) * u32le(in+4) + u32le(in) * u32le(in) == in[8] * in[8]
// other: "\x03\x00\x00\x00\x04\x00\x00\x00\x06"
#include <crest.h>
#include <stdio.h>

int main(void) {
    int a, b;
    unsigned char c;
    CREST_int(a);
    CREST_int(b);
    CREST_unsigned_char(c);
    if (a <= 0 || b <= 0 || a > 100 || b > 100)
        return puts("out of range"), 1;
    if (a * a + b * b == c * c)
        puts("a right triangle");
    else
        puts("another");
    return 0;
}
