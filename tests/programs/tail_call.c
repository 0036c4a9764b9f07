// Guaranteed tail calls between states of a machine: labels pass through musttail.
// opt: all
// run
// input: "aab."
// stdout: "12\n"
// exit: 0
// path: length: len <= 7
// path: len >= 1
// path: in[0] == 'a'
// path: in[1] == 'a'
// path: in[2] != 'a'
// path: in[2] == 'b'
// path: in[3] != 'a'
// path: in[3] == '.'
// other: "aaa."
#include <stdio.h>
#include <unistd.h>

typedef int state(const char *p, int n);
static state in_a, in_b;

static int in_a(const char *p, int n) {
    if (*p == 'a')
        __attribute__((musttail)) return in_a(p + 1, n + 1);
    if (*p == 'b')
        __attribute__((musttail)) return in_b(p + 1, n + 10);
    return -1;
}

static int in_b(const char *p, int n) {
    if (*p == 'a')
        __attribute__((musttail)) return in_a(p + 1, n + 100);
    return *p == '.' ? n : -1;
}

int main(void) {
    char in[9] = {0};
    if (read(0, in, 8) < 1)
        return 2;
    printf("%d\n", in_a(in, 0));
    return 0;
}
