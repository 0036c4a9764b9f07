// Saturating addition and subtraction at 8 and 16 bits.
// run
// input: "\xc8\x64\x10\x20\x00\x70\x00\x20"
// stdout: "full\nempty\nat the limit\n"
// exit: 0
// path: length: len > 7
// path: (uadd_overflow8(in[0], in[1]) ? -1 : (int8_t)(in[0] + in[1])) == -1
// path: in[2] <= in[3]
// path: select: (sadd_overflow16((int16_t)u16le(in+4), (int16_t)u16le(in+6)) ? (int16_t)u16le(in+4) < 0 ? -32768 : 0x7fff : (int16_t)(u16le(in+4) + u16le(in+6…
// run
// input: "\x01\x02\x30\x20\x01\x00\x01\x00"
// stdout: "three\nsixteen\nbelow it\n"
// exit: 0
// path: length: len > 7
// path: (uadd_overflow8(in[0], in[1]) ? -1 : (int8_t)(in[0] + in[1])) != -1
// path: select: (uadd_overflow8(in[0], in[1]) ? -1 : (int8_t)(in[0] + in[1])) == 3
// path: in[2] > in[3]
// path: select: (usub_overflow8(in[2], in[3]) ? 0 : (int8_t)(in[2] - in[3])) == 16
// path: select: (sadd_overflow16((int16_t)u16le(in+4), (int16_t)u16le(in+6)) ? (int16_t)u16le(in+4) < 0 ? -32768 : 0x7fff : (int16_t)(u16le(in+4) + u16le(in+6…
// other: "\xfe\x02\x30\x20\x01\x00\x01\x00"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[8];
    int16_t v[2];
    if (read(0, in, 8) != 8)
        return 2;
    memcpy(v, in + 4, 4);
    uint8_t add = __builtin_elementwise_add_sat(in[0], in[1]);
    uint8_t sub = __builtin_elementwise_sub_sat(in[2], in[3]);
    int16_t wide = __builtin_elementwise_add_sat(v[0], v[1]);
    puts(add == 255 ? "full" : add == 3 ? "three" : "other");
    puts(sub == 0 ? "empty" : sub == 16 ? "sixteen" : "other");
    puts(wide == INT16_MAX ? "at the limit" : "below it");
    return 0;
}
