// A ring buffer whose start comes from the input.
// seed: "\x02\x05abcdef"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

struct ring { unsigned head, tail; unsigned char data[8]; };

static void push(struct ring *r, unsigned char c) { r->data[r->head++ % 8] = c; }
static unsigned char pop(struct ring *r) { return r->data[r->tail++ % 8]; }

int main(int argc, char **argv) {
    unsigned char in[8];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 8) != 8)
        return 0;
    struct ring r = {in[0], in[1], {0}};
    for (int i = 2; i < 8; i++)
        push(&r, in[i]);
    unsigned char a = pop(&r), b = pop(&r), c = pop(&r);
    if (goal == 0 && a == 'x' && b == 'y' && c == 'z')
        abort();
    if (goal == 1 && a == 0 && b == 0 && c == '!' && in[0] == 77)
        abort();
    return 0;
}
