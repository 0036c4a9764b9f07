// Labels in globals, static locals, arrays of structs and through pointers to pointers.
// opt: all
// run
// input: "xy"
// stdout: "k first\nthen x\ndifferent\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: select: in[0] == 'x'
// path: select: in[0] != in[1]
// must: in[0] == 'x'
// other: "yy"
#include <stdio.h>

struct cell { int value; struct cell *next; };
static struct cell cells[3];
static int last;

static int remember(int c) {
    static int kept = 'k';
    int old = kept;
    kept = c;
    return old;
}

int main(void) {
    struct cell *p = &cells[0], **q = &p;
    cells[0].next = &cells[2];
    int a = getchar(), b = getchar();
    (*q)->next->value = a;
    last = b;
    puts(remember(a) == 'k' ? "k first" : "impossible");
    puts(remember(b) == 'x' ? "then x" : "then other");
    puts(cells[2].value == last ? "equal" : "different");
    return 0;
}
