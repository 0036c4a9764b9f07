// A table of pointers to strings: the pointer is a lookup, and the read through it is pinned.
// opt: all
// run
// input: "2"
// stdout: "south\nstarts with s\nfive letters\n"
// exit: 0
// path: length: len > 0
// path: in[0] >= '0'
// path: in[0] <= '3'
// path: select: u8le(name + in[0] * 8 - 384) == 115
// path: pin: name[in[0] - 48] == 0x…
// other: "1"
#include <stdio.h>
#include <string.h>

static const char *const name[4] = {"north", "east", "south", "west"};

int main(void) {
    int c = getchar();
    if (c < '0' || c > '3')
        return 1;
    const char *s = name[c - '0'];
    puts(s);
    puts(s[0] == 's' ? "starts with s" : "starts otherwise");
    puts(strlen(s) == 5 ? "five letters" : "four letters");
    return 0;
}
