// Code without instrumentation calls a callback: the arguments have no labels, memory keeps its labels.
// object: plain/each.c
// run
// input: "kapw"
// stdout: "1\n"
// exit: 0
// path: length: len > 3
// path: in[0] != 'a'
// path: in[1] == 'a'
// path: in[2] != 'a'
// path: in[3] != 'a'
// same: "lapx"
// other: "kbpw"
#include <stdio.h>
#include <unistd.h>

// In plain/each.c, compiled by plain clang.
int each_byte(const char *bytes, int n, int (*f)(int byte, const char *where));

static int middle(int byte, const char *where) {
    (void)byte;
    if (*where == 'a')
        return 1;
    return 0;
}

int main(void) {
    char in[4];
    if (read(0, in, 4) != 4)
        return 2;
    printf("%d\n", each_byte(in, 4, middle));
    return 0;
}
