// Sizes from the input for memcpy, memset and malloc are checked against the object's size.
// run
// input: "\x05\x03hello"
// stdout: "hello\nfilled\n"
// exit: 0
// path: length: len <= 15
// path: len >= 2
// path: in[0] + 2 == len
// path: check: in[0] <= 16
// path: check: in[0] <= 14
// path: pin: in[0] == 5
// path: pin: in[1] == 3
// path: check: in[1] <= 4
// path: pin: in[1] == 3
// other: "\x05\x03hello!"
// run
// input: "\x09\x03hello"
// stdout: "wrong length\n"
// exit: 1
// path: length: len <= 15
// path: len >= 2
// path: in[0] + 2 != len
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[16] = {0};
    char text[16];
    long n = read(0, in, sizeof in);
    if (n < 2)
        return 2;
    size_t want = in[0];
    if (want + 2 != (size_t)n)
        return puts("wrong length"), 1;
    memcpy(text, in + 2, want);
    text[want] = 0;
    puts(text);
    char *p = malloc(in[1] + 1);
    memset(p, 'z', in[1]);
    p[in[1]] = 0;
    puts(p[0] == 'z' ? "filled" : "empty");
    free(p);
    return 0;
}
