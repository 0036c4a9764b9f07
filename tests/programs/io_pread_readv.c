// pread at an offset and readv into two buffers.
// run
// input: "abcdefgh"
// stdout: "f\na\nthe same byte twice\n"
// exit: 0
// path: length: len > 3
// path: length: len > 5
// path: select: in[5] == 'f'
// path: select: in[0] == 'a'
// path: select: in[4] == in[4]
// must: in[5] == 'f'
// other: "abcdegh!"
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
    char a[2], b[3], c[2];
    if (pread(0, a, 2, 4) != 2)
        return 2;
    puts(a[1] == 'f' ? "f" : "not f");
    struct iovec v[2] = {{b, 3}, {c, 2}};
    if (readv(0, v, 2) != 5)
        return 3;
    puts(b[0] == 'a' ? "a" : "not a");
    puts(c[1] == a[0] ? "the same byte twice" : "impossible");
    return 0;
}
