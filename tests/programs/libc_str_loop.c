// The optimiser expands a short strncmp in a loop's condition into branches: these are decisions, too.
// opt: all
// run
// input: "a\r\n"
// stdout: "1\n"
// exit: 0
// path: length: len > 2
// path: in[0] != '\0'
// path: in[0] != '\r'
// path: in[1] != '\0'
// path: in[1] == '\r'
// path: in[2] == '\n'
// must: in[1] == 0x0d
// must: in[2] == 0x0a
// other: "a \n"
// other: "\r\nb"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[4] = {0};
    if (read(0, in, 3) != 3)
        return 2;
    int n = 0;
    for (char *h = in; *h && strncmp(h, "\r\n", 2); h++)
        n++;
    printf("%d\n", n);
    return 0;
}
