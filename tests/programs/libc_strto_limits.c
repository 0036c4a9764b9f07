// strtol beyond its range, with nothing to convert, and with an invalid base: errno and end pointer.
// run
// input: "99999999999999999999"
// stdout: "too large\n"
// exit: 0
// path: length: len <= 30
// path: len >= 1
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: model: (uint8_t)(in[4] - '0') <= 9
// path: model: (uint8_t)(in[5] - '0') <= 9
// path: model: (uint8_t)(in[6] - '0') <= 9
// path: model: (uint8_t)(in[7] - '0') <= 9
// path: model: (uint8_t)(in[8] - '0') <= 9
// path: model: (uint8_t)(in[9] - '0') <= 9
// path: model: (uint8_t)(in[10] - '0') <= 9
// path: model: (uint8_t)(in[11] - '0') <= 9
// path: model: (uint8_t)(in[12] - '0') <= 9
// path: model: (uint8_t)(in[13] - '0') <= 9
// path: model: (uint8_t)(in[14] - '0') <= 9
// path: model: (uint8_t)(in[15] - '0') <= 9
// path: model: (uint8_t)(in[16] - '0') <= 9
// path: model: (uint8_t)(in[17] - '0') <= 9
// path: model: (uint8_t)(in[18] - '0') <= 9
// path: …
// run
// input: "-99999999999999999999"
// stdout: "too small\n"
// exit: 0
// path: length: len <= 30
// path: len >= 1
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] == '-'
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: model: (uint8_t)(in[4] - '0') <= 9
// path: model: (uint8_t)(in[5] - '0') <= 9
// path: model: (uint8_t)(in[6] - '0') <= 9
// path: model: (uint8_t)(in[7] - '0') <= 9
// path: model: (uint8_t)(in[8] - '0') <= 9
// path: model: (uint8_t)(in[9] - '0') <= 9
// path: model: (uint8_t)(in[10] - '0') <= 9
// path: model: (uint8_t)(in[11] - '0') <= 9
// path: model: (uint8_t)(in[12] - '0') <= 9
// path: model: (uint8_t)(in[13] - '0') <= 9
// path: model: (uint8_t)(in[14] - '0') <= 9
// path: model: (uint8_t)(in[15] - '0') <= 9
// path: model: (uint8_t)(in[16] - '0') <= 9
// path: model: (uint8_t)(in[17] - '0') <= 9
// path: model: (uint8_t)(in[18] - '0') <= 9
// path: model: (uint8_t)(in[19] - '0') <= 9
// path: model: (uint8_t)(in[20] - '0') <= 9
// path: …
// run
// input: "none"
// stdout: "nothing there\n"
// exit: 0
// path: length: len <= 30
// path: len >= 1
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') > 9
// run
// input: "9223372036854775807"
// stdout: "just the largest\n"
// exit: 0
// path: length: len <= 30
// path: len >= 1
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: model: (uint8_t)(in[4] - '0') <= 9
// path: model: (uint8_t)(in[5] - '0') <= 9
// path: model: (uint8_t)(in[6] - '0') <= 9
// path: model: (uint8_t)(in[7] - '0') <= 9
// path: model: (uint8_t)(in[8] - '0') <= 9
// path: model: (uint8_t)(in[9] - '0') <= 9
// path: model: (uint8_t)(in[10] - '0') <= 9
// path: model: (uint8_t)(in[11] - '0') <= 9
// path: model: (uint8_t)(in[12] - '0') <= 9
// path: model: (uint8_t)(in[13] - '0') <= 9
// path: model: (uint8_t)(in[14] - '0') <= 9
// path: model: (uint8_t)(in[15] - '0') <= 9
// path: model: (uint8_t)(in[16] - '0') <= 9
// path: model: (uint8_t)(in[17] - '0') <= 9
// path: model: (uint8_t)(in[18] - '0') <= 9
// path: …
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    char in[32] = {0}, *end;
    if (read(0, in, 31) < 1)
        return 2;
    errno = 0;
    long n = strtol(in, &end, 10);
    if (end == in)
        puts("nothing there");
    else if (errno == ERANGE)
        puts(n == LONG_MAX ? "too large" : "too small");
    else
        puts(n == LONG_MAX ? "just the largest" : "fits");
    return 0;
}
