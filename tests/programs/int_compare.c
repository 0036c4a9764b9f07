// All ten integer comparisons between two input words, signed and unsigned.
// opt: all
// run
// input: "\x01\x00\xff\xff"
// stdout: ".!uU....sS\n"
// exit: 0
// path: length: len > 3
// path: u16le(in) != u16le(in+2)
// path: u16le(in) != u16le(in+2)
// path: u16le(in) < u16le(in+2)
// path: u16le(in) <= u16le(in+2)
// path: u16le(in+2) >= u16le(in)
// path: u16le(in+2) > u16le(in)
// path: (int16_t)u16le(in) >= (int16_t)u16le(in+2)
// path: (int16_t)u16le(in) > (int16_t)u16le(in+2)
// path: (int16_t)u16le(in+2) < (int16_t)u16le(in)
// path: (int16_t)u16le(in+2) <= (int16_t)u16le(in)
// same: "\x05\x00\xf0\xff"
// other: "\xff\xff\x01\x00"
// run
// input: "zzzz"
// stdout: "=..U.U.S.S\n"
// exit: 0
// path: length: len > 3
// path: u16le(in) == u16le(in+2)
// path: u16le(in) == u16le(in+2)
// path: u16le(in) >= u16le(in+2)
// path: u16le(in) <= u16le(in+2)
// path: u16le(in+2) >= u16le(in)
// path: u16le(in+2) <= u16le(in)
// path: (int16_t)u16le(in) >= (int16_t)u16le(in+2)
// path: (int16_t)u16le(in) <= (int16_t)u16le(in+2)
// path: (int16_t)u16le(in+2) >= (int16_t)u16le(in)
// path: (int16_t)u16le(in+2) <= (int16_t)u16le(in)
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    uint16_t v[2];
    if (read(0, v, 4) != 4)
        return 2;
    int16_t a = (int16_t)v[0], b = (int16_t)v[1];
    char out[11] = "..........";
    if (v[0] == v[1]) out[0] = '=';
    if (v[0] != v[1]) out[1] = '!';
    if (v[0] < v[1]) out[2] = 'u';
    if (v[0] <= v[1]) out[3] = 'U';
    if (v[0] > v[1]) out[4] = 'u';
    if (v[0] >= v[1]) out[5] = 'U';
    if (a < b) out[6] = 's';
    if (a <= b) out[7] = 'S';
    if (a > b) out[8] = 's';
    if (a >= b) out[9] = 'S';
    puts(out);
    return 0;
}
