// -fsanitize=address: only the fast half has the sanitizer, and both halves behave the same.
// flags: -O1 -g -fsanitize=address
// run
// input: "\x03abc"
// stdout: "ends in c\n"
// exit: 0
// path: length: len > 0
// path: check: (in[0] & 7) <= 8
// path: pin: (in[0] & 7) == 3
// path: model: (in[0] & 7) <= len - 1
// path: (in[0] & 7) == (in[0] & 7)
// path: check: (in[0] & 7) <= 8
// path: check: (in[0] & 7) <= 8
// path: (in[0] & 7) != 0
// path: select: in[3] == 'c'
// other: "\x04abc"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char head, body[8] = {0};
    if (read(0, &head, 1) != 1)
        return 2;
    size_t n = head & 7;
    char *p = malloc(8);
    if (read(0, body, n) != (ssize_t)n)
        return free(p), puts("short"), 1;
    memcpy(p, body, n);
    puts(n && p[n - 1] == 'c' ? "ends in c" : "other");
    free(p);
    return 0;
}
