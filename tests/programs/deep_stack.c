// A recursion of depth one thousand with labelled locals, and a large frame.
// run
// input: "\x07"
// stdout: "seven\n"
// exit: 0
// path: length: len > 0
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: select: (in[0] & 15) != 8
// path: …
// other: "\x08"
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int deep(int n, int c) {
    volatile char pad[256];
    pad[n & 255] = (char)c;
    if (n == 0)
        return pad[0];
    return deep(n - 1, c) + (pad[n & 255] == 8 ? 1 : 0);
}

int main(void) {
    char big[200000];
    memset(big, getchar(), sizeof big);
    int r = deep(1000, big[199999] & 15);
    puts(r == 7 ? "seven" : "other");
    return 0;
}
