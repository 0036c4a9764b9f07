// Bit-fields of a packed header: read, compared, changed in place, sign-extended.
// opt: all
// run
// input: "\x65\x83\x12\x34"
// stdout: "kind five\ntwelve on\nwrapped to minus\nnarrow\nno rest\n"
// exit: 5
// path: length: len > 3
// path: (u32le(in) & 7) == 5
// path: (u32le(in) & 128) == 0
// path: (u32le(in) & 120) == 96
// path: select: (u32le(in) + 40 & 128) != 0
// path: select: ((u32le(in) + 40 & 248 | u32le(in) & 0xffffff07) << 1 & 0x1ffe00) <= 0xfa000
// path: select: (((u32le(in) + 40 & 248 | u32le(in) & 0xffffff07) << 1 & 0x1ffe00 | (u32le(in) + 40 & 248 | u32le(in) & 0xffffff07) & 0xffe000ff) & 0xffe00000…
// other: "\x66\x83\x12\x34"
// run
// input: "\x00\x00\x00\x00"
// stdout: "still plus\nnarrow\nno rest\n"
// exit: 0
// path: length: len > 3
// path: (u32le(in) & 7) != 5
// path: (u32le(in) & 128) == 0
// path: (u32le(in) & 120) != 96
// path: select: (u32le(in) + 40 & 128) == 0
// path: select: ((u32le(in) + 40 & 248 | u32le(in) & 0xffffff07) << 1 & 0x1ffe00) <= 0xfa000
// path: select: (((u32le(in) + 40 & 248 | u32le(in) & 0xffffff07) << 1 & 0x1ffe00 | (u32le(in) + 40 & 248 | u32le(in) & 0xffffff07) & 0xffe000ff) & 0xffe00000…
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct head {
    unsigned kind : 3;
    signed delta : 5;
    unsigned wide : 13;
    unsigned rest : 11;
};

int main(void) {
    struct head h;
    _Static_assert(sizeof h == 4, "one word");
    if (read(0, &h, 4) != 4)
        return 2;
    if (h.kind == 5)
        puts("kind five");
    if (h.delta < 0)
        puts("backwards");
    else if (h.delta == 12)
        puts("twelve on");
    h.delta += 5;
    puts(h.delta < 0 ? "wrapped to minus" : "still plus");
    h.wide = h.wide * 2;
    puts(h.wide > 4000 ? "wide" : "narrow");
    puts(h.rest == 0x1a0 + 2 ? "rest" : "no rest");
    return h.kind;
}
