// Pointer arithmetic and comparison: differences of pointers into labelled text are plain numbers.
// opt: all
// run
// input: "key: value"
// stdout: "3 5\n"
// exit: 0
// path: length: len <= 15
// path: len + 0x… > 0x…
// path: in[0] != ':'
// path: len + 0x… > 0x…
// path: in[1] != ':'
// path: len + 0x… > 0x…
// path: in[2] != ':'
// path: len + 0x… > 0x…
// path: in[3] == ':'
// path: len != 3
// path: len != 4
// path: in[4] == ' '
// path: len != 5
// path: in[5] != ' '
// same: "sex: value"
// other: "ke: xvalue"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[16];
    long n = read(0, in, sizeof in);
    const char *p = in, *end = in + n;
    while (p < end && *p != ':')
        p++;
    if (p == end)
        return puts("no colon"), 1;
    long length = p - in;
    do
        p++;
    while (p != end && *p == ' ');
    printf("%ld %ld\n", length, (long)(end - p));
    return p > in + 4 ? 0 : 3;
}
