// bsearch for an input key in constants, and for a constant key in the input.
// run
// input: "gcmx"
// stdout: "3\nno q\n"
// exit: 0
// path: length: len > 3
// path: (int8_t)in[0] >= 'g'
// path: in[0] == 'g'
// path: (int8_t)in[2] >= (int8_t)in[1]
// path: (int8_t)in[3] >= (int8_t)in[2]
// path: (int8_t)in[2] <= 'q'
// path: in[2] != 'q'
// path: (int8_t)in[3] > 'q'
// same: "gbnz"
// other: "jcmx"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int cmp(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }

int main(void) {
    static const char odd[] = {'a', 'c', 'e', 'g', 'i', 'k', 'm'};
    char in[4];
    if (read(0, in, 4) != 4)
        return 2;
    const char *hit = bsearch(in, odd, sizeof odd, 1, cmp);
    printf("%d\n", hit ? (int)(hit - odd) : -1);
    if (in[1] > in[2] || in[2] > in[3])
        return 1;
    char key = 'q';
    puts(bsearch(&key, in + 1, 3, 1, cmp) ? "q" : "no q");
    return 0;
}
