// Lanes permuted by constants, inserted and extracted at a variable index.
// run
// input: "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x02"
// stdout: "four first\nseven\nset\npicked two\n"
// exit: 0
// path: length: len > 15
// path: length: len > 16
// path: select: u32le(in+12) == 4
// path: select: u32le(in+12) + u32le(in+8) == 7
// path: select: u32le(in) == 1
// path: select: ((in[16] & 3) == 3 ? u32le(in) : (in[16] & 3) == 2 ? u32le(in+4) : (in[16] & 3) == 1 ? u32le(in+8) : u32le(in+12)) == 2
// other: "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x05\x00\x00\x00\x02"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

typedef uint32_t v4 __attribute__((vector_size(16)));

int main(void) {
    v4 in;
    unsigned char at;
    if (read(0, &in, 16) != 16 || read(0, &at, 1) != 1)
        return 2;
    v4 back = __builtin_shufflevector(in, in, 3, 2, 1, 0);
    puts(back[0] == 4 ? "four first" : "other first");
    v4 zipped = __builtin_shufflevector(in, back, 0, 4, 1, 5);
    puts(zipped[1] + zipped[3] == 7 ? "seven" : "not seven");
    v4 set = in;
    set[1] = 77;
    puts(set[1] == 77 && set[0] == 1 ? "set" : "not set");
    puts(back[at & 3] == 2 ? "picked two" : "picked other");
    return 0;
}
