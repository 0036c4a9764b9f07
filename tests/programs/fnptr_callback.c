// A visitor with state, called through a pointer with labelled arguments and a labelled result.
// opt: all
// run
// input: "a1b22c"
// stdout: "3 digits, two together\n"
// exit: 0
// path: length: len <= 7
// path: len > 0
// path: (int8_t)in[0] > '/'
// path: in[0] >= ':'
// path: len > 1
// path: (int8_t)in[1] > '/'
// path: in[1] < ':'
// path: len > 2
// path: (int8_t)in[2] > '/'
// path: in[2] >= ':'
// path: len > 3
// path: (int8_t)in[3] > '/'
// path: in[3] < ':'
// path: len > 4
// path: (int8_t)in[4] > '/'
// path: in[4] < ':'
// path: len > 5
// path: (int8_t)in[5] > '/'
// path: in[5] >= ':'
// path: len <= 6
// path: len > 0
// path: (int8_t)in[0] > '/'
// path: in[0] >= ':'
// path: len > 1
// path: …
// same: "x3y45z"
// other: "a1b2cc"
#include <stdio.h>
#include <unistd.h>

typedef int visit(char c, void *state);

static int each(const char *s, long n, visit *f, void *state) {
    for (long i = 0; i < n; i++) {
        int r = f(s[i], state);
        if (r)
            return r;
    }
    return 0;
}

static int count_digits(char c, void *state) {
    if (c >= '0' && c <= '9')
        ++*(int *)state;
    return 0;
}

static int find_double(char c, void *state) {
    char *last = state;
    int digits = c >= '0' && c <= '9' && *last >= '0' && *last <= '9';
    *last = c;
    return digits;
}

int main(void) {
    char in[8], last = 0;
    int digits = 0;
    long n = read(0, in, sizeof in);
    each(in, n, count_digits, &digits);
    int twice = each(in, n, find_double, &last);
    printf("%d digits, %s\n", digits, twice ? "two together" : "all apart");
    return 0;
}
