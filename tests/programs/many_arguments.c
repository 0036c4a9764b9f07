// More labelled arguments than registers, of all widths; the result is used in another call.
// opt: all
// run
// input: "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c"
// stdout: "ninety\n"
// exit: 0
// path: length: len > 11
// path: select: (int64_t)(in[1] + in[0] + in[2] + in[3] + in[4] + in[5] + in[6] + (int8_t)in[7] + in[8] + ((unsigned __int128)in[9] << 8 >> 8) + in[10] + (in[…
// same: "\x02\x01\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c"
// other: "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0d"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static uint64_t mix(uint8_t a, int16_t b, uint32_t c, int64_t d, uint8_t e, int f,
                                              uint64_t g, int8_t h, uint16_t i, double unused,
                                              unsigned __int128 j, uint8_t k, int l) {
    (void)unused;
    return a + (uint64_t)b + c + (uint64_t)d + e + (uint64_t)f + g + (uint64_t)h + i + (uint64_t)(j >> 8) + k +
           (uint64_t)l * 2;
}

int main(void) {
    unsigned char in[12];
    if (read(0, in, 12) != 12)
        return 2;
    uint64_t r = mix(in[0], in[1], in[2], in[3], in[4], in[5], in[6], (int8_t)in[7], in[8], 1.5,
                     (unsigned __int128)in[9] << 8, in[10], in[11]);
    puts(r == 90 ? "ninety" : "other");
    return 0;
}
