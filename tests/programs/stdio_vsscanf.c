// The program's own scan function calls vsscanf and gets the matched length by %n.
// run
// input: "max-age=3600, x"
// stdout: "an hour up to 12\n"
// exit: 0
// path: length: len <= 22
// path: len >= 1
// path: model: in[0] != '\0'
// path: model: in[0] == '-' || (uint8_t)(in[0] - 'a') <= 25
// path: model: in[1] != '\0'
// path: model: in[1] == '-' || (uint8_t)(in[1] - 'a') <= 25
// path: model: in[2] != '\0'
// path: model: in[2] == '-' || (uint8_t)(in[2] - 'a') <= 25
// path: model: in[3] != '\0'
// path: model: in[3] == '-' || (uint8_t)(in[3] - 'a') <= 25
// path: model: in[4] != '\0'
// path: model: in[4] == '-' || (uint8_t)(in[4] - 'a') <= 25
// path: model: in[5] != '\0'
// path: model: in[5] == '-' || (uint8_t)(in[5] - 'a') <= 25
// path: model: in[6] != '\0'
// path: model: in[6] == '-' || (uint8_t)(in[6] - 'a') <= 25
// path: model: in[7] != '\0'
// path: model: !(in[7] == '-' || (uint8_t)(in[7] - 'a') <= 25)
// path: model: in[7] == '='
// path: model: in[8] != '\0'
// path: model: !(in[8] == ' ' || (uint8_t)(in[8] - 9) <= 4)
// path: model: in[8] != '-'
// path: model: in[8] != '+'
// path: model: (uint8_t)(in[8] - '0') <= 9
// path: …
// same: "max-age=3600, y"
// other: "max-age=3601, x"
// run
// input: "no-store"
// stdout: "no value\n"
// exit: 0
// path: length: len <= 22
// path: len >= 1
// path: model: in[0] != '\0'
// path: model: in[0] == '-' || (uint8_t)(in[0] - 'a') <= 25
// path: model: in[1] != '\0'
// path: model: in[1] == '-' || (uint8_t)(in[1] - 'a') <= 25
// path: model: in[2] != '\0'
// path: model: in[2] == '-' || (uint8_t)(in[2] - 'a') <= 25
// path: model: in[3] != '\0'
// path: model: in[3] == '-' || (uint8_t)(in[3] - 'a') <= 25
// path: model: in[4] != '\0'
// path: model: in[4] == '-' || (uint8_t)(in[4] - 'a') <= 25
// path: model: in[5] != '\0'
// path: model: in[5] == '-' || (uint8_t)(in[5] - 'a') <= 25
// path: model: in[6] != '\0'
// path: model: in[6] == '-' || (uint8_t)(in[6] - 'a') <= 25
// path: model: in[7] != '\0'
// path: model: in[7] == '-' || (uint8_t)(in[7] - 'a') <= 25
// path: length: len <= 8
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int scan(const char *text, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int n = vsscanf(text, format, ap);
    va_end(ap);
    return n;
}

int main(void) {
    char in[24] = {0}, name[10];
    int value = 0, end = 0;
    if (read(0, in, 23) < 1)
        return 2;
    if (scan(in, "%9[a-z-]=%d%n", name, &value, &end) == 2)
        printf("%s up to %d\n", value == 3600 ? "an hour" : "some time", end);
    else
        puts("no value");
    return 0;
}
