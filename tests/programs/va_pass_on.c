// A va_list is copied and passed to another function, as printf wrappers do.
// opt: all
// run
// input: "\x02\x10\x20\x30"
// stdout: "close\n"
// exit: 0
// path: length: len > 3
// path: (in[0] & 3) != 0
// path: in[1] > 0
// path: (in[0] & 3) != 1
// path: (in[1] > 0 ? in[1] : 0) < in[2]
// path: (in[0] & 3) == 2
// path: select: ((in[1] > 0 ? in[1] : 0) < in[2] ? in[2] : in[1] > 0 ? in[1] : 0) - in[1] < 100
// same: "\x02\x11\x20\x30"
// other: "\x02\x10\xf0\x30"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static int largest(int n, va_list ap) {
    int top = 0;
    while (n--) {
        int x = va_arg(ap, int);
        if (x > top)
            top = x;
    }
    return top;
}

__attribute__((noinline)) static int spread(int n, ...) {
    va_list ap, again;
    va_start(ap, n);
    va_copy(again, ap);
    int top = largest(n, ap), first = va_arg(again, int);
    va_end(again);
    va_end(ap);
    return top - first;
}

int main(void) {
    unsigned char in[4];
    if (read(0, in, 4) != 4)
        return 2;
    int n = in[0] & 3;
    if (n == 0)
        return 1;
    puts(spread(n, in[1], in[2], in[3]) < 100 ? "close" : "far");
    return 0;
}
