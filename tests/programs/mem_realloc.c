// realloc moves labels with the block; new memory has none, even where labelled memory was freed.
// run
// input: "abcdefghij"
// stdout: "still a\nclean\nabove c\n"
// exit: 0
// path: length: len > 9
// path: select: in[0] == 'a'
// path: select: (int8_t)in[3] > 'c'
// must: in[0] == 'a'
// other: "bbcdefghij"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char *p = malloc(10);
    if (read(0, p, 10) != 10)
        return 2;
    for (size_t size = 16; size <= 1 << 20; size *= 8)
        p = realloc(p, size);
    puts(p[0] == 'a' ? "still a" : "not a");
    char *q = malloc(10);
    memcpy(q, p, 10);
    free(q);
    char *z = calloc(10, 1);
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += z[i];
    puts(sum == 0 ? "clean" : "impossible");
    p = realloc(p, 4);
    puts(p[3] > 'c' ? "above c" : "up to c");
    free(p);
    free(z);
    return 0;
}
