// A pointer argument that is passed to another module need not be a valid address.
// with: parts/kind.c
// opt: all
// run
// input: "x"
// stdout: "text x\nnumber 1\nnumber -2.5\nnowhere\n"
// exit: 0
// path: length: len > 0
// path: in[0] != 'y'
// other: "y"
#include "parts/kind.h"
#include <stdio.h>
#include <unistd.h>

static void show(struct value v) {
    if (kind_of(v) == 's')
        printf("text %.1s\n", v.as.text);
    else
        printf("number %g\n", v.as.number);
}

int main(void) {
    char in[1];
    if (read(0, in, 1) != 1)
        return 2;
    show((struct value){'s', {.text = in}});
    show((struct value){'n', {.number = 1.0}});
    show((struct value){'n', {.number = -2.5}});
    puts(is_nowhere((void *)-1) && is_nowhere((void *)(in[0] | -1L)) ? "nowhere" : "somewhere");
    if (in[0] == 'y')
        puts("why");
    return 0;
}
