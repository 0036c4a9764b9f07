// Variable-length integers with seven bits per byte and zigzag signs.
// opt: all
// run
// input: "\x96\x01\x03"
// stdout: "150\nminus two\n"
// exit: 0
// path: length: len > 0
// path: in[0] >= 128
// path: switch: in[0] >= 128
// path: length: len > 1
// path: in[1] < 128
// path: switch: in[1] < 128
// path: length: len > 2
// path: in[2] < 128
// path: switch: in[2] < 128
// path: select: (in[0] & 127 | 0 | (in[1] & 127) << 7) == 150
// path: select: (int64_t)((in[2] & 127 | 0) >> 1 ^ (uint64_t)(0 - ((in[2] & 127 | 0) & 1))) == -2
// other: "\x97\x01\x03"
// run
// input: "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
// stdout: "cut or too long\n"
// exit: 1
// path: length: len > 0
// path: in[0] >= 128
// path: switch: in[0] >= 128
// path: length: len > 1
// path: in[1] >= 128
// path: switch: in[1] >= 128
// path: length: len > 2
// path: in[2] >= 128
// path: switch: in[2] >= 128
// path: length: len > 3
// path: in[3] >= 128
// path: switch: in[3] >= 128
// path: length: len > 4
// path: in[4] >= 128
// path: switch: in[4] >= 128
// path: length: len > 5
// path: in[5] >= 128
// path: switch: in[5] >= 128
// path: length: len > 6
// path: in[6] >= 128
// path: switch: in[6] >= 128
// path: length: len > 7
// path: in[7] >= 128
// path: switch: in[7] >= 128
// path: …
#include <stdint.h>
#include <stdio.h>

static int varint(uint64_t *out) {
    *out = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        int c = getchar();
        if (c == EOF)
            return 0;
        if (shift < 64)
            *out |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return 1;
    }
    return 0;
}

int main(void) {
    uint64_t a, b;
    if (!varint(&a) || !varint(&b))
        return puts("cut or too long"), 1;
    int64_t z = (int64_t)(b >> 1) ^ -(int64_t)(b & 1);
    puts(a == 150 ? "150" : "other");
    puts(z == -2 ? "minus two" : "other");
    return 0;
}
