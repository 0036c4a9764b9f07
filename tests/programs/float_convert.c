// Integers to floats and back at all widths: exact conversions keep the condition, and no constraint is wrong.
// opt: all
// run
// input: "\x2a\xff\x10"
// stdout: "forty-two\nminus one\nsixteen\ntwice\nreally\n"
// exit: 0
// path: length: len > 2
// path: select: in[0] == '*'
// path: select: in[1] == 255
// path: select: in[2] == 16
// path: select: in[0] == '*'
// path: select: in[0] == '*'
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    float f = in[0];
    double d = (int8_t)in[1];
    long double l = (int64_t)in[2] << 40;
    int back = (int)f, minus = (int)d;
    uint64_t wide = (uint64_t)l;
    puts(back == 42 ? "forty-two" : "other");
    puts(minus == -1 ? "minus one" : "other");
    puts(wide >> 40 == 16 ? "sixteen" : "other");
    puts((uint16_t)(f * 2) == 84 ? "twice" : "not twice");
    puts(in[0] == 42 ? "really" : "not really");
    return 0;
}
