// Structs through variable arguments: in registers, in two registers, and in memory.
// run
// input: "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18"
// stdout: "ninety-seven\n"
// exit: 0
// path: length: len > 23
// path: select: in[23] * 3 + in[0] + (in[11] << 1) == 97
// other: "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x19"
// free: 1 9
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

struct one { unsigned char b[4]; };
struct two { unsigned char b[12]; };
struct big { unsigned char b[24]; };

__attribute__((noinline)) static int pick(int n, ...) {
    va_list ap;
    va_start(ap, n);
    struct one o = va_arg(ap, struct one);
    struct big g = va_arg(ap, struct big);
    struct two t = va_arg(ap, struct two);
    va_end(ap);
    return o.b[0] + t.b[11] * 2 + g.b[23] * 3;
}

int main(void) {
    union { struct one o; struct two t; struct big g; } u;
    if (read(0, &u, sizeof u) != sizeof u)
        return 2;
    puts(pick(3, u.o, u.g, u.t) == 1 + 24 + 72 ? "ninety-seven" : "other");
    return 0;
}
