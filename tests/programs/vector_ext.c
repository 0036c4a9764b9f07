// Vectors of the GNU extension: arithmetic on lanes, use of one lane, a store of the whole vector.
// opt: all
// run
// input: "\x01\x02\x03\x04\x05\x06\x07\x08\x0a\x14\x1e\x28\x32\x3c\x46\x50"
// stdout: "eighty-eight\neleven\nseventeen\nthree times\n"
// exit: 0
// path: length: len > 7
// path: length: len > 15
// path: select: (int8_t)(in[15] + in[7]) == 88
// path: select: (int8_t)(in[8] + in[0]) == 11
// path: select: (((uint8_t)(in[10] + in[2]) ^ in[2]) & 254) == 34
// path: select: u16le(in+4) == 1541
// other: "\x01\x02\x03\x04\x05\x06\x07\x08\x0a\x14\x1e\x28\x32\x3c\x46\x51"
// free: 1 9
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef uint8_t v8 __attribute__((vector_size(8)));
typedef int16_t s4 __attribute__((vector_size(8)));

int main(void) {
    v8 a, b;
    if (read(0, &a, 8) != 8 || read(0, &b, 8) != 8)
        return 2;
    v8 sum = a + b;
    v8 mixed = (sum ^ a) >> 1;
    puts(sum[7] == 88 ? "eighty-eight" : "other");
    puts(sum[0] == 11 ? "eleven" : "other");
    uint8_t out[8];
    memcpy(out, &mixed, 8);
    puts(out[2] == 17 ? "seventeen" : "other");
    s4 wide = (s4)a * 3;
    puts(wide[2] == 3 * 0x0605 ? "three times" : "other");
    return 0;
}
