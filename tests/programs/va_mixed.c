// More than six variable arguments of mixed types (ints, longs, doubles, pointers), so that some are on the stack.
// opt: all
// run
// input: "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a"
// stdout: "fifty\nten\n"
// exit: 0
// path: length: len > 9
// path: select: in[8] + (in[5] + (in[1] + in[0] + 2 + in[2] + in[3] + in[4] + 3) + in[6] + in[7]) == 50
// path: select: in[9] == '\n'
// same: "\x01\x02\x03\x04\x05\x06\x07\x09\x08\x0a"
// other: "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0b"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static long fold(const char *kinds, ...) {
    va_list ap;
    long total = 0;
    va_start(ap, kinds);
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'i': total += va_arg(ap, int); break;
        case 'l': total += va_arg(ap, long); break;
        case 'd': total += (long)va_arg(ap, double); break;
        case 'p': total += *va_arg(ap, unsigned char *); break;
        }
    }
    va_end(ap);
    return total;
}

int main(void) {
    unsigned char in[10];
    if (read(0, in, 10) != 10)
        return 2;
    long t = fold("ildpiidlpil", in[0], (long)in[1], 2.5, &in[2], in[3], in[4], 3.5, (long)in[5], &in[6],
                  in[7], (long)in[8]);
    puts(t == 50 ? "fifty" : "not fifty");
    puts(in[9] == 10 ? "ten" : "not ten");
    return 0;
}
