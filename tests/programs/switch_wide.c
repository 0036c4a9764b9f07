// A switch over a 64-bit value, with cases that differ only above bit 32.
// opt: all
// run
// input: "\x01\x00\x00\x00\x01\x00\x00\x00"
// stdout: "one and a high one\nsomething above\n"
// exit: 0
// path: length: len > 7
// path: switch: u64le(in) == 0x100000001
// path: switch: (int64_t)u64le(in) >> 32 != -1 && (int64_t)u64le(in) >> 32 != 0
// other: "\x01\x00\x00\x00\x00\x00\x00\x00"
// run
// input: "\xff\xff\xff\xff\xff\xff\xff\xff"
// stdout: "all ones\nminus one above\n"
// exit: 0
// path: length: len > 7
// path: switch: (int64_t)u64le(in) == -1
// path: switch: (int64_t)u64le(in) >> 32 == -1
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    uint64_t x;
    if (read(0, &x, 8) != 8)
        return 2;
    switch (x) {
    case 1: puts("one"); break;
    case 0x100000001ull: puts("one and a high one"); break;
    case 0x200000001ull: puts("one and a high two"); break;
    case UINT64_MAX: puts("all ones"); break;
    default: puts("else");
    }
    switch ((int64_t)x >> 32) {
    case -1: puts("minus one above"); break;
    case 0: puts("nothing above"); break;
    default: puts("something above");
    }
    return 0;
}
