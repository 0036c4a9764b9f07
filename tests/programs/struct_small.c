// Structs small enough for registers: passed and returned by value, two to a register.
// opt: all
// run
// input: "\x03\x04\x05\x00\x0c\x00"
// stdout: "nine\nthree\nsixty\n"
// exit: 0
// path: length: len > 1
// path: length: len > 5
// path: select: ((in[0] << 16 | (uint16_t)(in[1] + u16le(in+2))) & 0xffff) == 9
// path: select: ((in[0] << 16 | (uint16_t)(in[1] + u16le(in+2))) & 0xffffffffffff0000) == 0x30000
// path: select: ((int64_t)((uint64_t)u16le(in+4) << 48) >> 48) * ((int64_t)((uint64_t)u32le(in+2) << 48) >> 48) == 60
// other: "\x03\x04\x05\x00\x0d\x00"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct byte_pair { uint8_t x, y; };
struct short_pair { int16_t x, y; };
struct mixed { int16_t a; char b; int64_t c; };

__attribute__((noinline)) static struct byte_pair swap(struct byte_pair p) {
    return (struct byte_pair){p.y, p.x};
}

__attribute__((noinline)) static struct mixed blend(struct byte_pair p, struct short_pair q) {
    return (struct mixed){(int16_t)(p.x + q.x), (char)p.y, (int64_t)q.y * q.x};
}

int main(void) {
    struct byte_pair p;
    struct short_pair q;
    if (read(0, &p, 2) != 2 || read(0, &q, 4) != 4)
        return 2;
    p = swap(p);
    struct mixed m = blend(p, q);
    puts(m.a == 9 ? "nine" : "not nine");
    puts(m.b == 3 ? "three" : "not three");
    puts(m.c == 60 ? "sixty" : "not sixty");
    return 0;
}
