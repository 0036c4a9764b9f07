// ungetc of a character that was not read: it goes to glibc's backup area, with its own label.
// run
// input: "ab"
// stdout: "b first\nthen b\n"
// exit: 0
// path: length: len > 0
// path: model: in[0] != -2
// path: select: (int8_t)(in[0] + 1) == 98
// path: length: len > 1
// path: select: in[1] == 'b'
// must: in[0] == 'a'
// must: in[1] == 'b'
// other: "ac"
// other: "bb"
#include <stdio.h>

int main(void) {
    int c = getchar();
    // The next character after the one that was read: 'b' for 'a'.
    if (c == EOF || ungetc(c + 1, stdin) == EOF)
        return 1;
    puts(getchar() == 'b' ? "b first" : "another first");
    puts(getchar() == 'b' ? "then b" : "then another");
    return 0;
}
