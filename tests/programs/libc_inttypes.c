// strtoimax and strtoumax, and a loop over numbers by their end pointers.
// run
// input: "1 -2 3"
// stdout: "3 numbers, two in all\n"
// exit: 0
// path: length: len <= 22
// path: len >= 1
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[1] - '0') > 9
// path: model: in[1] == ' ' || (uint8_t)(in[1] - 9) <= 4
// path: model: !(in[2] == ' ' || (uint8_t)(in[2] - 9) <= 4)
// path: model: in[2] == '-'
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: model: (uint8_t)(in[4] - '0') > 9
// path: model: in[4] == ' ' || (uint8_t)(in[4] - 9) <= 4
// path: model: !(in[5] == ' ' || (uint8_t)(in[5] - 9) <= 4)
// path: model: in[5] != '-'
// path: model: in[5] != '+'
// path: model: (uint8_t)(in[5] - '0') <= 9
// path: length: len <= 6
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: in[0] != '0'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[1] - '0') > 9
// path: …
// same: "3 -2 1"
// other: "1 -2 4"
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[24] = {0}, *p = in, *end;
    if (read(0, in, 23) < 1)
        return 2;
    intmax_t sum = 0;
    int count = 0;
    for (;; p = end, count++) {
        intmax_t n = strtoimax(p, &end, 10);
        if (end == p)
            break;
        sum += n;
    }
    uintmax_t first = strtoumax(in, NULL, 16);
    printf("%d numbers, %s\n", count, sum == 2 ? "two in all" : "another sum");
    return first > 9;
}
