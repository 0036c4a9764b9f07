// The __builtin_*_overflow family, signed and unsigned, at 8 to 64 bits.
// opt: all
// run
// input: "\x7f\x01\xff\xff\x02\x00\x00\x00\x00\x80"
// stdout: "add8 overflows\nmul16 overflows\nsub32 overflows\nmul64 overflows\nusub16\nnegative\n"
// exit: 0
// path: length: len > 9
// path: select: sadd_overflow8((int8_t)in[0], (int8_t)in[1])
// path: select: umul_overflow16(u16le(in+2), u16le(in+4))
// path: select: ssub_overflow32((int)u32le(in+6), in[1])
// path: select: smul_overflow64((int64_t)((uint64_t)(int)u32le(in+6) << 20), u16le(in+2) << 10)
// path: select: u16le(in+2) >= u16le(in+4)
// path: select: (int8_t)(in[0] + in[1]) < 0
// other: "\x7e\x01\xff\xff\x02\x00\x00\x00\x00\x80"
// run
// input: "\x01\x01\x01\x00\x01\x00\x01\x00\x00\x00"
// stdout: "add8\nmul16\nsub32\nmul64\nusub16\nnot negative\n"
// exit: 0
// path: length: len > 9
// path: select: !sadd_overflow8((int8_t)in[0], (int8_t)in[1])
// path: select: !umul_overflow16(u16le(in+2), u16le(in+4))
// path: select: !ssub_overflow32((int)u32le(in+6), in[1])
// path: select: !smul_overflow64((int64_t)((uint64_t)(int)u32le(in+6) << 20), u16le(in+2) << 10)
// path: select: u16le(in+2) >= u16le(in+4)
// path: select: (int8_t)(in[0] + in[1]) >= 0
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[10];
    if (read(0, in, 10) != 10)
        return 2;
    int8_t a;
    uint16_t b, c, product;
    int32_t d, difference;
    int64_t e;
    memcpy(&b, in + 2, 2);
    memcpy(&c, in + 4, 2);
    memcpy(&d, in + 6, 4);
    puts(__builtin_add_overflow((int8_t)in[0], (int8_t)in[1], &a) ? "add8 overflows" : "add8");
    puts(__builtin_mul_overflow(b, c, &product) ? "mul16 overflows" : "mul16");
    puts(__builtin_sub_overflow(d, in[1], &difference) ? "sub32 overflows" : "sub32");
    puts(__builtin_mul_overflow((int64_t)d * 1048576, (int64_t)b * 1024, &e) ? "mul64 overflows" : "mul64");
    puts(__builtin_sub_overflow(b, c, &product) ? "usub16 overflows" : "usub16");
    puts(a < 0 ? "negative" : "not negative");
    return 0;
}
