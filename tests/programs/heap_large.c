// Labelled addresses far inside large objects, while other objects are allocated and freed.
// run
// input: "Z"
// exit: 0
// path: length: len > 0
// path: check: in[0] * 1000 <= 0x1d4bf
// path: pin: in[0] * 1000 == 0x15f90
// path: check: in[0] * 1001 <= 0x1d4bf
// path: pin: in[0] * 1001 == 0x15fea
// path: check: in[0] * 1002 <= 0x1d4bf
// path: pin: in[0] * 1002 == 0x16044
// path: check: in[0] * 400 <= 0xc34f
// path: check: in[0] * 403 <= 0xc34f
#include <stdio.h>
#include <stdlib.h>

static void *volatile keep; // otherwise the optimiser removes the allocation

__attribute__((noinline)) static volatile char *make(size_t n) {
    char *p = calloc(n, 1);
    keep = p;
    return p;
}

int main(void) {
    size_t c = (unsigned char)getchar();
    volatile char *large = make(120000);
    volatile char *small = make(64);
    // Three accesses far from the start of the large object.
    int sum = large[c * 1000] + large[c * 1001] + large[c * 1002];
    free((void *)large);
    // Other objects, with other bounds, where the large one was.
    volatile char *first = make(50000), *second = make(50000);
    sum += first[c * 400] + second[c * 403];
    free((void *)first);
    free((void *)second);
    free((void *)small);
    return sum;
}
