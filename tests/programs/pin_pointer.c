// The input selects a pointer, which is then followed: the address is pinned.
// opt: all
// run
// input: "\x01"
// stdout: "b\n"
// exit: 1
// path: length: len > 0
// path: check: a[in[0] & 1] + (in[0] >> 1 & 1) * 8 - 0x… <= 16
// path: check: u64le(b + (a[in[0] & 1] + (in[0] >> 1 & 1) * 8) - 0x…) - 0x… <= 16
// other: "\x00"
#include <stdio.h>

struct cell { struct cell *next[2]; const char *name; };
static struct cell a, b;

int main(void) {
    a = (struct cell){{&a, &b}, "a"};
    b = (struct cell){{&b, &a}, "b"};
    struct cell *p = &a;
    int c = getchar();
    for (int i = 0; i < 2; i++)
        p = p->next[c >> i & 1];
    puts(p->name);
    return p == &b;
}
