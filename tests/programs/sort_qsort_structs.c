// qsort by two keys, on structs larger than a word; labels move with the elements.
// run
// input: "b2a1b1a2"
// stdout: "1 3 2 0 two last\n"
// exit: 0
// path: length: len > 7
// path: in[0] != in[2]
// path: select: (int8_t)in[0] >= (int8_t)in[2]
// path: in[4] != in[6]
// path: select: (int8_t)in[4] >= (int8_t)in[6]
// path: in[2] == in[6]
// path: model: ((int8_t)in[7] < (int8_t)in[3]) - ((int8_t)in[3] < (int8_t)in[7]) <= 0
// path: in[0] != in[6]
// path: select: (int8_t)in[0] >= (int8_t)in[6]
// path: in[0] == in[4]
// path: model: ((int8_t)in[5] < (int8_t)in[1]) - ((int8_t)in[1] < (int8_t)in[5]) > 0
// path: select: in[1] == '2'
// other: "b1a1b1a2"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct entry { long pad; char key, sub; int index; };

static int order(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->sub > y->sub) - (x->sub < y->sub);
}

int main(void) {
    char in[8];
    struct entry e[4];
    if (read(0, in, 8) != 8)
        return 2;
    for (int i = 0; i < 4; i++)
        e[i] = (struct entry){i * 1000, in[2 * i], in[2 * i + 1], i};
    qsort(e, 4, sizeof *e, order);
    for (int i = 0; i < 4; i++)
        printf("%d ", e[i].index);
    puts(e[3].sub == '2' ? "two last" : "other last");
    return 0;
}
