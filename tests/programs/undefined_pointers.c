// Pointers with undefined behaviour: null where it is not allowed, two restrict pointers to
// one object, a sum that wraps around, an allocation that fails.
// flags: -O0 -w
// run
// input: "\xff\x01rLx\x06"
// stdout: "null field\nnull argument\nnull compared\nsame\ntoo large\n"
// exit: 0
// path: length: len > 5
// path: select: in[1] == 1
// path: ((uint64_t)in[0] << 56) + 0x… >= 0x…
// path: in[2] == 'r'
// path: select: in[3] == 'L'
// path: in[4] == 'x'
// run
// input: "\x00\x02s.y\x06"
// stdout: ""
// exit: 0
// path: length: len > 5
// path: select: in[1] != 1
// path: ((uint64_t)in[0] << 56) + 0x… >= 0x…
// path: in[2] != 'r'
// path: in[5] != 5
// path: select: in[3] != 'L'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int cells[2] = {3, 4};

static int wraps(const char *p, size_t n) { return p + n < p; }

static int null_field(int *p) {
    int *next = &p[1];
    if (!p)
        return 1;
    return *next == 99;
}

__attribute__((nonnull)) static int null_argument(int *p) { return !p; }

static int null_compared(const void *p, const void *q, size_t n) {
    return memcmp(p, q, n) == 0 && p == NULL;
}

static int same(int *restrict a, int *restrict b, int value) {
    *a = value;
    *b = 5;
    return *a == 5;
}

static int too_large(int kind, int answer) {
    char *p = malloc(kind == 'L' ? PTRDIFF_MAX : 1);
    if (!p)
        return answer == 'x';
    free(p);
    return 0;
}

int main(void) {
    unsigned char in[6];
    int a = 2;
    if (read(0, in, sizeof in) != sizeof in)
        return 2;
    int *p = in[1] == 1 ? NULL : cells;
    if (wraps((char *)in, (size_t)in[0] << 56))
        puts("wraps");
    if (null_field(p))
        puts("null field");
    if (null_argument(p))
        puts("null argument");
    if (null_compared(p, in, 0))
        puts("null compared");
    if (same(&a, in[2] == 'r' ? &a : cells, in[5]))
        puts("same");
    if (too_large(in[3], in[4]))
        puts("too large");
    return 0;
}
