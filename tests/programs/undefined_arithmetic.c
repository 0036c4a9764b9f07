// Arithmetic with undefined behaviour in C: at -O0 the machine defines it, and the symbolic half agrees.
// flags: -O0
// run
// input: "\x10\x00\x00\x00\x21\x80\xa0\x02"
// stdout: "overflow\nshifted\nabsolute\nassumed\ntwo\n"
// exit: 0
// path: length: len > 7
// path: (int)(u32le(in) + 0x7ffffff8) < 0
// path: (int)u32le(in) > 7
// path: (in[4] & 31) == 1
// path: ((int)((uint32_t)in[5] << 24) < 0 ? (int)(0 - ((uint32_t)in[5] << 24)) : (int)((uint32_t)in[5] << 24)) < 0
// path: in[6] > 150
// path: switch: in[7] == 2
// run
// input: "\x00\x00\x00\x00\x02\x01\x14\x05"
// stdout: ""
// exit: 0
// path: length: len > 7
// path: (int)(u32le(in) + 0x7ffffff8) >= 0
// path: (int)u32le(in) <= 7
// path: (in[4] & 31) != 1
// path: ((int)((uint32_t)in[5] << 24) < 0 ? (int)(0 - ((uint32_t)in[5] << 24)) : (int)((uint32_t)in[5] << 24)) >= 0
// path: in[6] <= 150
// path: switch: in[7] == 5
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int overflows(int a) { return a + 2147483640 < 0 && a > 0; }

static int assumed(int x) {
    __builtin_assume(x < 100);
    return x > 150;
}

static int listed(int x) {
    switch (x) {
    case 1: return 10;
    case 2: return 20;
    case 5: return 50;
    default: __builtin_unreachable();
    }
}

int main(void) {
    unsigned char in[8];
    int a;
    if (read(0, in, sizeof in) != sizeof in)
        return 2;
    memcpy(&a, in, 4);
    if (overflows(a))
        puts("overflow");
    if (1 << in[4] == 2)
        puts("shifted");
    if (abs((int)((unsigned)in[5] << 24)) < 0)
        puts("absolute");
    if (assumed(in[6]))
        puts("assumed");
    if (listed(in[7]) == 20)
        puts("two");
    return 0;
}
