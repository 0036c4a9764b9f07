// Nested structs are copied by assignment, into arrays and through pointers; the bytes keep their labels.
// opt: all
// run
// input: "\x01\x02\x03\x04\x05\x06\x07\x08"
// stdout: "first\nfourth\nlast\ncleared\n"
// exit: 0
// path: length: len > 7
// path: select: in[0] == 1
// path: select: (u64le(in) & 0xff000000) == 0x4000000
// path: select: (u64le(in) & 0xff00000000000000) == 0x800000000000000
// other: "\x01\x02\x03\x04\x05\x06\x07\x07"
// free: 1 2 4 5 6
#include <stdio.h>
#include <unistd.h>

struct leaf { unsigned char a, b; };
struct node { struct leaf l[2]; struct leaf r; unsigned char end[2]; };

int main(void) {
    struct node n, all[3] = {0};
    if (read(0, &n, sizeof n) != sizeof n)
        return 2;
    all[1] = n;
    all[2] = all[1];
    struct node *p = &all[2];
    p->r = p->l[0];
    struct leaf x = p->r, y = all[1].l[1];
    all[1].l[1] = (struct leaf){0, 0};
    puts(x.a == 1 ? "first" : "not first");
    puts(y.b == 4 ? "fourth" : "not fourth");
    puts(all[2].end[1] == 8 ? "last" : "not last");
    puts(all[1].l[1].b == 0 ? "cleared" : "impossible");
    return 0;
}
