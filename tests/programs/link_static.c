// Linked with -static: the fast half is static, the symbolic half is still dynamic.
// flags: -O1 -static
// run
// input: "static"
// stdout: "static\n"
// exit: 0
// path: length: len <= 14
// path: len >= 1
// path: length: len <= 6
// path: select: in[0] == 's' && in[1] == 't' && in[2] == 'a' && in[3] == 't' && in[4] == 'i' && in[5] == 'c'
// must: in[0] == 's'
// other: "dynamic"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[16] = {0};
    if (read(0, in, 15) < 1)
        return 2;
    puts(strcmp(in, "static") == 0 ? "static" : "not static");
    return 0;
}
