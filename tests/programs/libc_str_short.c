// The optimiser expands comparisons with very short strings: each byte is still a decision.
// opt: all
// run
// input: "ab\r\nif"
// stdout: "ab\nline end\nif\n"
// exit: 0
// path: length: len > 5
// path: in[0] == 'a' && in[1] == 'b'
// path: in[2] == '\r' && in[3] == '\n'
// path: in[4] == 'i' && in[5] == 'f'
// must: in[0] == 'a'
// must: in[1] == 'b'
// must: in[2] == 0x0d
// must: in[3] == 0x0a
// must: in[4] == 'i'
// must: in[5] == 'f'
// other: "ab\n\nif"
// run
// input: "xyz---"
// stdout: "not ab\nno line end\nnot if\n"
// exit: 0
// path: length: len > 5
// path: in[0] != 'a' || in[1] != 'b'
// path: in[2] != '\r' || in[3] != '\n'
// path: in[4] != 'i' || in[5] != 'f'
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[7] = {0};
    if (read(0, in, 6) != 6)
        return 2;
    if (memcmp(in, "ab", 2) == 0)
        puts("ab");
    else
        puts("not ab");
    if (strncmp(in + 2, "\r\n", 2) == 0)
        puts("line end");
    else
        puts("no line end");
    if (strcmp(in + 4, "if") == 0)
        puts("if");
    else
        puts("not if");
    return 0;
}
