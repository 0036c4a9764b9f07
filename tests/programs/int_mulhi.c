// The high half of a product, as division by multiplication and hash mixing use it.
// run
// input: "\x15\xcd\x5b\x07\x00\x00\x00\x00"
// stdout: "ends in nine\nand starts 12345678\nmixed high\n"
// exit: 0
// path: length: len > 7
// path: (int64_t)(((__int128)u64le(in) * 0x199999999999999a >> 64) * -10 + u64le(in)) == 9
// path: (__int128)u64le(in) * 0x199999999999999a >> 64 == 0xbc614e
// path: select: (__int128)((unsigned __int128)(u64le(in) ^ 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93) < 0
// other: "\x16\xcd\x5b\x07\x00\x00\x00\x80"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t mulhi(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }

int main(void) {
    uint64_t x;
    if (read(0, &x, 8) != 8)
        return 2;
    // ceil(2^64 / 10): the quotient by ten for all 32-bit values.
    uint64_t q = mulhi(x, 0x199999999999999aull);
    uint64_t last = x - q * 10;
    if (last == 9)
        puts("ends in nine");
    if (q == 12345678)
        puts("and starts 12345678");
    puts(mulhi(x ^ 0x9e3779b97f4a7c15ull, 0xd6e8feb86659fd93ull) >> 63 ? "mixed high" : "mixed low");
    return 0;
}
