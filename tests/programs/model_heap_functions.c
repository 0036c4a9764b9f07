// The allocation functions: realloc moves labels, new memory has none, and failures are the same as libc's.
// run
// input: "12,30"
// stdout: "second\nthird\nfourth\nzero\naligned 0 0 0 1 1 0\nfailed 1 1 1\n"
// exit: 0
// path: length: len > 4
// path: select: in[1] == '2'
// path: select: in[2] == ','
// path: select: in[3] == '3'
// must: in[1] == '2'
// must: in[2] == ','
// must: in[3] == '3'
// other: "13,30"
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile keep; // otherwise the optimiser removes the allocation

static unsigned past(void *p, uintptr_t align) {
    unsigned rest = (uintptr_t)p % align;
    free(p);
    return rest;
}

int main(void) {
    char in[5];
    if (read(0, in, 5) != 5)
        return 2;
    char *p = malloc(5);
    memcpy(p, in, 5);
    p = realloc(p, 100000); // moves
    puts(p[1] == '2' ? "second" : "other");
    p = realloc(p, 40);
    puts(p[2] == ',' ? "third" : "other");
    p = reallocarray(p, 10, 8);
    puts(p[3] == '3' ? "fourth" : "other");
    free(p);
    int *zeros = calloc(25, 4); // where labels were
    puts(zeros[0] == 0 && zeros[1] == 0 ? "zero" : "impossible");
    free(zeros);
    void *m;
    int made = posix_memalign(&m, 32, 100);
    unsigned rest = past(m, 32);
    int refused = posix_memalign(&m, 3, 100) == EINVAL;
    m = memalign(128, 10);
    int usable = malloc_usable_size(m) >= 10;
    free(m);
    printf("aligned %u %d %u %d %d %u\n", past(aligned_alloc(64, 128), 64), made, rest, refused, usable,
           past(valloc(10), 4096));
    volatile size_t huge = SIZE_MAX / 2 + 2;
    keep = malloc(huge);
    int failures = !keep;
    keep = calloc(huge, 2);
    printf("failed %d %d %d\n", failures, !keep, !reallocarray(NULL, huge, 2));
    return 0;
}
