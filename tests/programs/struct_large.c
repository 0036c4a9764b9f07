// A struct too large for registers: passed by hidden copy, returned by hidden pointer.
// opt: all
// run
// input: "abcdefghijklmnopqrstuvwxyz0123456789"
// stdout: "changed in the copy only\nodd last\nfirst is last\n"
// exit: 0
// path: length: len > 35
// path: in[0] == 'a'
// path: select: in[0] == 'a'
// path: select: (in[35] & 1) != 0
// path: select: in[4] == in[4]
// same: "abcdefghijklmnopqrstuvwxyz0123456781"
// other: "abcdefghijklmnopqrstuvwxyz0123456780"
// free: 3 4 5
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct block { char tag[4]; char body[32]; };

__attribute__((noinline)) static struct block reverse(struct block b) {
    for (int i = 0; i < 16; i++) {
        char t = b.body[i];
        b.body[i] = b.body[31 - i];
        b.body[31 - i] = t;
    }
    b.tag[0]++;
    return b;
}

int main(void) {
    struct block b;
    if (read(0, &b, sizeof b) != sizeof b)
        return 2;
    struct block r = reverse(b);
    puts(r.tag[0] == 'b' && b.tag[0] == 'a' ? "changed in the copy only" : "other tag");
    puts(r.body[0] & 1 ? "odd last" : "even last");
    puts(r.body[31] == b.body[0] ? "first is last" : "impossible");
    return 0;
}
