// The program's own formatter: the format string comes from the input.
// run
// input: "n=%d %c%%\n"
// stdout: "n=<11> a%\n"
// exit: 0
// path: length: len <= 22
// path: len >= 0
// path: check: len <= 23
// path: pin: len == 10
// path: in[0] != '\0'
// path: in[0] != '%'
// path: in[1] != '\0'
// path: in[1] != '%'
// path: in[2] != '\0'
// path: in[2] == '%'
// path: switch: in[3] == 'd'
// path: in[4] != '\0'
// path: in[4] != '%'
// path: in[5] != '\0'
// path: in[5] == '%'
// path: switch: in[6] == 'c'
// path: in[7] != '\0'
// path: in[7] == '%'
// path: switch: in[8] == '%'
// path: in[9] != '\0'
// path: in[9] != '%'
// other: "n=%x %c%%\n"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void put(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    for (; *format; format++) {
        if (*format != '%') {
            putchar(*format);
            continue;
        }
        switch (*++format) {
        case 'd': printf("<%d>", va_arg(ap, int)); break;
        case 'c': putchar(va_arg(ap, int)); break;
        case '%': putchar('%'); break;
        case 0: goto done;
        default: putchar('?');
        }
    }
done:
    va_end(ap);
}

int main(void) {
    char format[24];
    long n = read(0, format, sizeof format - 1);
    if (n < 0)
        return 2;
    format[n] = 0;
    // More arguments than any format of this length can use.
    put(format, 11, 'a', 12, 'b', 13, 'c', 14, 'd', 15, 'e', 16, 'f', 17);
    return 0;
}
