// Compound assignments on char and short: the conversion to int and back must wrap as in C.
// opt: all
// run
// input: "\xfe\x7f\x05"
// stdout: "wrapped\nfell over\nbelow zero\nminus one squared\nmixed\n"
// exit: 15
// path: length: len > 2
// path: select: in[0] == 254
// path: select: (int8_t)(in[1] + 1) < 0
// path: select: (in[2] + 0xfffa & 0xffff) > 0xea60
// path: select: ((uint32_t)((in[2] + 0xfffa) * 257) * (in[2] + 0xfffa & 255) & 0xffff) == 1
// path: select: ((in[1] ^ (uint8_t)(in[0] + 3) | 16) & (uint8_t)~in[2]) == 122
// other: "\xfd\x7f\x05"
// run
// input: "\x00\x00\x00"
// stdout: "did not wrap\nstill up\nbelow zero\nother product\nmixed otherwise\n"
// exit: 2
// path: length: len > 2
// path: select: in[0] != 254
// path: select: (int8_t)(in[1] + 1) >= 0
// path: select: (in[2] + 0xfffa & 0xffff) > 0xea60
// path: select: ((uint32_t)((in[2] + 0xfffa) * 257) * (in[2] + 0xfffa & 255) & 0xffff) != 1
// path: select: ((in[1] ^ (uint8_t)(in[0] + 3) | 16) & (uint8_t)~in[2]) != 122
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    unsigned char a = in[0];
    a += 3;
    puts(a == 1 ? "wrapped" : "did not wrap");
    signed char b = (signed char)in[1];
    b++;
    puts(b < 0 ? "fell over" : "still up");
    unsigned short s = in[2];
    s -= 6;
    puts(s > 60000 ? "below zero" : "above zero");
    s *= s % 256u * 257u;
    puts(s == 1 ? "minus one squared" : "other product");
    a ^= in[1];
    a |= 0x10;
    a &= ~in[2];
    puts(a == 0x7a ? "mixed" : "mixed otherwise");
    a >>= 3;
    return a;
}
