// Forward gotos to one exit, as in the clean-up code of C programs.
// opt: all
// run
// input: "OK\x02hi"
// stdout: "hi\nrc 0\n"
// exit: 0
// path: length: len <= 15
// path: len >= 3
// path: in[0] == 'O'
// path: in[1] == 'K'
// path: len - 3 == (uint64_t)(int8_t)in[2]
// path: pin: len == 5
// path: check: (uint64_t)(int8_t)in[2] <= 5
// path: check: (uint64_t)(int8_t)in[2] <= 13
// path: pin: in[2] == 2
// path: select: in[3] == 'h'
// other: "OK\x03hi"
// run
// input: "KO"
// stdout: "rc 1\n"
// exit: 1
// path: length: len <= 15
// path: len < 3
// same: "KX"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[16];
    int rc = 1;
    char *copy = NULL;
    long n = read(0, in, sizeof in);
    if (n < 3 || in[0] != 'O')
        goto out;
    if (in[1] != 'K')
        goto out;
    if (in[2] != n - 3)
        goto out;
    copy = malloc(n);
    if (!copy)
        goto out;
    memcpy(copy, in + 3, n - 3);
    copy[n - 3] = 0;
    rc = copy[0] == 'h' ? 0 : 3;
    puts(copy);
out:
    free(copy);
    printf("rc %d\n", rc);
    return rc;
}
