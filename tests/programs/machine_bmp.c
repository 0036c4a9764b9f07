// An image header: sizes are multiplied with overflow checks before memory is allocated.
// run
// input: "BM\x04\x00\x00\x00\x03\x00\x00\x00\x18\x00"
// stdout: "image\n36 bytes\n"
// exit: 0
// path: length: len > 11
// path: in[0] == 'B'
// path: in[1] == 'M'
// path: u16le(in+10) != 8
// path: u16le(in+10) == 24
// path: !umul_overflow32(u32le(in+2), u16le(in+10) >> 3)
// path: !umul_overflow32(u32le(in+2) * (u16le(in+10) >> 3), u32le(in+6))
// path: u32le(in+2) * (u16le(in+10) >> 3) * u32le(in+6) != 0
// path: u32le(in+2) * (u16le(in+10) >> 3) * u32le(in+6) <= 4096
// path: pin: u32le(in+2) * (u16le(in+10) >> 3) * u32le(in+6) == 36
// path: select: table_…[u32le(in+2) * (u16le(in+10) >> 3) * u32le(in+6) - 1] == 0
// path: select: u32le(in+2) * (u16le(in+10) >> 3) * u32le(in+6) == 36
// other: "BM\x04\x00\x00\x00\x03\x00\x00\x40\x20\x00"
// run
// input: "BM\x00\x00\x00\x40\x00\x00\x00\x40\x20\x00"
// stdout: "overflow\n"
// exit: 1
// path: length: len > 11
// path: in[0] == 'B'
// path: in[1] == 'M'
// path: u16le(in+10) != 8
// path: u16le(in+10) != 24
// path: u16le(in+10) == 32
// path: umul_overflow32(u32le(in+2), u16le(in+10) >> 3)
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[12];
    uint32_t width, height, bytes;
    uint16_t bits;
    if (read(0, in, 12) != 12 || in[0] != 'B' || in[1] != 'M')
        return puts("no image"), 1;
    memcpy(&width, in + 2, 4);
    memcpy(&height, in + 6, 4);
    memcpy(&bits, in + 10, 2);
    if (bits != 8 && bits != 24 && bits != 32)
        return puts("depth"), 1;
    uint32_t stride;
    if (__builtin_mul_overflow(width, (uint32_t)bits / 8, &stride) ||
        __builtin_mul_overflow(stride, height, &bytes))
        return puts("overflow"), 1;
    if (bytes == 0 || bytes > 4096)
        return puts("size"), 1;
    unsigned char *p = calloc(bytes, 1);
    puts(p && p[bytes - 1] == 0 ? "image" : "no memory");
    printf("%s\n", bytes == 36 ? "36 bytes" : "other size");
    free(p);
    return 0;
}
