// A flexible array member on the heap, its count from the input.
// run
// input: "\x03\x0a\x14\x1e"
// stdout: "sixty\n"
// exit: 0
// path: length: len > 0
// path: in[0] <= 16
// path: pin: in[0] == 3
// path: check: in[0] <= 3
// path: pin: in[0] == 3
// path: model: in[0] <= len - 1
// path: in[0] == in[0]
// path: in[0] > 0
// path: in[0] > 1
// path: in[0] > 2
// path: in[0] <= 3
// path: select: in[1] + in[2] + in[3] == 60
// same: "\x03\x14\x0a\x1e"
// other: "\x02\x0a\x14\x1e"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct list { int count; unsigned char item[]; };

int main(void) {
    unsigned char n;
    if (read(0, &n, 1) != 1 || n > 16)
        return 2;
    struct list *l = malloc(sizeof *l + n);
    l->count = n;
    if (read(0, l->item, n) != n)
        return free(l), 3;
    int sum = 0;
    for (int i = 0; i < l->count; i++)
        sum += l->item[i];
    printf("%s\n", sum == 60 ? "sixty" : "other");
    free(l);
    return 0;
}
