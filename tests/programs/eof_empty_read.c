// One read into a large buffer: its result is the length of the input, used in arithmetic.
// opt: all
// run
// input: "12345678"
// stdout: "2 words\n"
// exit: 0
// path: length: len <= 63
// path: (len & 3) == 0
// path: select: len == 8
// same: "abcdefgh"
// other: "1234567"
// other: "123456789"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[64];
    long n = read(0, in, sizeof in);
    if (n % 4)
        return puts("not whole words"), 1;
    printf("%ld words\n", n / 4);
    return n / 4 == 2 ? 0 : 3;
}
