// The buffer after a short read: its contents are as they are only because the input is short.
// run
// input: "abc"
// stdout: "abc\n"
// exit: 3
// path: length: len <= 14
// path: len >= 0
// path: length: len <= 3
// path: select: u24le(in) == 0x636261
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] != '\0'
// must: in[2] == 'c'
// other: "abcd"
// run
// input: ""
// stdout: "something else\n"
// exit: 0
// path: length: len <= 14
// path: len >= 0
// path: length: len <= 0
// other: "x"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    static char text[16];
    if (read(0, text, sizeof text - 1) < 0)
        return 99;
    puts(strcmp(text, "abc") == 0 ? "abc" : "something else");
    return (int)strlen(text);
}
