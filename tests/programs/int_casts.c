// Chains of sign extension, zero extension and truncation of the same byte.
// opt: all
// run
// input: "\x80\xff\x7f\xfe\xff\xff\xff"
// stdout: "differs by sign\nshort plus, its low byte minus\nextended by ones\nalways\nbit eight\nmiddle ones\n"
// exit: 0
// path: length: len > 6
// path: select: (int8_t)in[0] != in[0]
// path: in[1] == 255
// path: select: (int16_t)u16le(in+1) > 0 && in[1] == 255
// path: select: (int)u32le(in+3) < 0
// path: select: (u32le(in+3) & 256) != 0
// path: select: (u32le(in+3) & 0xffff00) == 0xffff00
// other: "\x7f\xff\x7f\xfe\xff\xff\xff"
// run
// input: "\x01\x01\x00\x02\x00\x00\x00"
// stdout: "same either way\nother\nextended by zeros\nalways\nno bit eight\nmiddle other\n"
// exit: 0
// path: length: len > 6
// path: select: (int8_t)in[0] == in[0]
// path: in[1] != 255
// path: select: !((int16_t)u16le(in+1) > 0 && in[1] == 255)
// path: select: (int)u32le(in+3) >= 0
// path: select: (u32le(in+3) & 256) == 0
// path: select: (u32le(in+3) & 0xffff00) != 0xffff00
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[7];
    if (read(0, in, 7) != 7)
        return 2;
    int sign = (int8_t)in[0], zero = in[0];
    puts(sign == zero ? "same either way" : "differs by sign");
    int16_t h;
    int32_t w;
    memcpy(&h, in + 1, 2);
    memcpy(&w, in + 3, 4);
    puts((int8_t)h == -1 && (int64_t)h > 0 ? "short plus, its low byte minus" : "other");
    puts((uint64_t)(int64_t)w > 0xffffffffu ? "extended by ones" : "extended by zeros");
    puts((uint64_t)(uint32_t)w > 0xffffffffu ? "never" : "always");
    puts((_Bool)(w & 0x100) ? "bit eight" : "no bit eight");
    puts((uint16_t)((uint32_t)w >> 8) == 0xffff ? "middle ones" : "middle other");
    return 0;
}
