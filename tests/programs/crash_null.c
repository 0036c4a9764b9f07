// Three matching bytes lead to a null pointer: the run ends by SIGSEGV.
// run
// input: "bug"
// stdout: ""
// signal: 11
// path: length: len > 2
// path: in[0] == 'b'
// path: in[1] == 'u'
// path: in[2] == 'g'
// must: in[1] == 'u'
// other: "bag"
// run
// input: "bad"
// stdout: "6\n"
// exit: 0
// path: length: len > 2
// path: in[0] == 'b'
// path: in[1] != 'u'
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[3];
    static int value = 5;
    int *volatile p = &value;
    if (read(0, in, 3) != 3)
        return 2;
    if (in[0] == 'b')
        if (in[1] == 'u')
            if (in[2] == 'g')
                p = NULL;
    *(volatile int *)p = 6;
    printf("%d\n", value);
    return 0;
}
