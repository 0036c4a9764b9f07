// Fortified copy functions copy labels, and a copy that is too long ends the program.
// flags: -O2 -D_FORTIFY_SOURCE=2 -Wno-fortify-source
// run
// input: "a\x04wxyz"
// stdout: "wxyz\nwxyz-wx\nmarked\n"
// exit: 0
// path: length: len > 5
// path: check: in[1] <= 8
// path: check: in[1] <= 8
// path: check: in[1] <= 4
// path: pin: in[1] == 4
// path: model: in[2] != '\0'
// path: model: in[3] != '\0'
// path: model: in[4] != '\0'
// path: model: in[5] != '\0'
// path: check: (uint64_t)(in[1] - 2) <= 16
// path: pin: in[1] == 4
// path: check: in[1] <= 12
// path: pin: in[1] == 4
// path: select: in[2] == 'w'
// must: in[2] == 'w'
// other: "a\x04Wxyz"
// run
// input: "a\x09wxyz"
// signal: 6
// path: length: len > 5
// path: check: in[1] > 8
// path: check: in[1] > 8
// path: check: in[1] > 4
// path: pin: in[1] == '\t'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[6], small[8], text[16];
    if (read(0, in, 6) != 6)
        return 2;
    setvbuf(stdout, NULL, _IONBF, 0);
    size_t n = (unsigned char)in[1];
    memcpy(small, in + 2, n);
    small[n] = 0;
    puts(small);
    strcpy(text, small);
    strcat(text, "-");
    strncat(text, small, n - 2);
    puts(text);
    memset(text + n, small[0], n);
    puts(text[n + 1] == 'w' ? "marked" : "other");
    return 0;
}
