// The counts that write and fwrite return do not constrain the length of the input.
// run
// input: "abc"
// stdout: "abcabc"
// exit: 0
// path: length: len <= 63
// path: len >= 0
// path: check: len <= 64
// path: len == len
// path: check: len * 1 <= 64
// path: len == len
// same: "xyz"
// same: "a longer one"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[64];
    long n = read(0, in, sizeof in);
    if (n < 0 || write(1, in, (size_t)n) != n)
        return 1;
    if (fwrite(in, 1, (size_t)n, stdout) != (size_t)n)
        return 2;
    return 0;
}
