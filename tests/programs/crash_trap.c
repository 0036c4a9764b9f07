// __builtin_trap and exit statuses: both halves must end in the same way.
// run
// input: "T"
// stdout: ""
// signal: 4
// path: length: len > 0
// path: in[0] == 'T'
// run
// input: "7"
// stdout: "bye\n"
// exit: 7
// path: length: len > 0
// path: in[0] != 'T'
// path: in[0] != '_'
// path: in[0] > '/'
// path: in[0] < ':'
// run
// input: "_"
// stdout: ""
// exit: 40
// path: length: len > 0
// path: in[0] != 'T'
// path: in[0] == '_'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void farewell(void) { puts("bye"); }

int main(void) {
    int c = getchar();
    atexit(farewell);
    if (c == 'T')
        __builtin_trap();
    if (c == '_')
        _exit(40);
    if (c >= '0' && c <= '9')
        exit(c - '0');
    return 255;
}
