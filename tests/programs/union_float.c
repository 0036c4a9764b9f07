// The bits of a float read as an integer: there is no arithmetic on floats, so no label is lost.
// opt: all
// run
// input: "\x00\x00\xc0\x7f\x00\x00\x00\x00\x00\x00\xf0\x3f"
// stdout: "nan\nbetween one and two\n"
// exit: 0
// path: length: len > 3
// path: length: len > 11
// path: (u32le(in) >> 23 & 255) == 255
// path: select: (u32le(in) & 0x7fffff) != 0
// path: select: (u64le(in+4) & 0xfff0000000000000) == 0x3ff0000000000000
// other: "\x00\x00\x80\x7f\x00\x00\x00\x00\x00\x00\xf0\x3f"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    union { float f; uint32_t u; } a;
    union { double d; uint64_t u; } b;
    if (read(0, &a.f, 4) != 4 || read(0, &b.d, 8) != 8)
        return 2;
    uint32_t exponent = a.u >> 23 & 0xff, mantissa = a.u & 0x7fffff;
    if (exponent == 255)
        puts(mantissa ? "nan" : "infinity");
    else
        puts(exponent ? "number" : "tiny or zero");
    puts(b.u >> 52 == 0x3ff ? "between one and two" : "elsewhere");
    return 0;
}
