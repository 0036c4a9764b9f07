// The labels of a frame's locals must not appear in the next frame at the same address.
// opt: all
// run
// input: "zz"
// stdout: "z\nseven\n"
// exit: 0
// path: length: len > 1
// path: select: in[0] == 'z'
// losses: unmodelled
// free: 1
// must: in[0] == 'z'
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static int dirty(const char *in) {
    char buffer[64];
    for (int i = 0; i < 64; i++)
        buffer[i] = in[0] + (char)i;
    __asm__ volatile("" ::"r"(buffer) : "memory");
    return buffer[0] == 'z';
}

__attribute__((noinline)) static int clean(int n) {
    char buffer[64];
    memset(buffer, n, 32);
    snprintf(buffer + 32, 32, "%031d", n);
    __asm__ volatile("" ::"r"(buffer) : "memory");
    return buffer[3] == n && buffer[62] == '0' + n;
}

int main(void) {
    char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    puts(dirty(in) ? "z" : "not z");
    puts(clean(7) ? "seven" : "impossible");
    return 0;
}
