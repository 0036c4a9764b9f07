// An integer square root, digit by digit: a loop that branches on labelled values.
// run
// input: "\x10\x27"
// stdout: "a hundred\n"
// exit: 0
// path: length: len > 1
// path: u16le(in) < 0x4000
// path: u16le(in) >= 4096
// path: (uint32_t)(u16le(in) - 4096) >= 5120
// path: (uint32_t)(u16le(in) - 9216) < 3328
// path: (uint32_t)(u16le(in) - 9216) < 1600
// path: (uint32_t)(u16le(in) - 9216) >= 784
// path: (uint32_t)(u16le(in) - 0x2710) < 404
// path: (uint32_t)(u16le(in) - 0x2710) < 201
// same: "\x74\x27"
// other: "\xff\x26"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static unsigned isqrt(unsigned n) {
    unsigned root = 0;
    for (unsigned bit = 1u << 14; bit; bit >>= 2) {
        if (n >= root + bit) {
            n -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

int main(void) {
    uint16_t n;
    if (read(0, &n, 2) != 2)
        return 2;
    printf("%s\n", isqrt(n) == 100 ? "a hundred" : "other");
    return 0;
}
