// Integer conversions of scanf: bases by prefix, widths, sizes, pointers, limits.
// run
// input: "0x1F 017 -12 99999999999999999999 0x10"
// stdout: "31 15 -12\nlimit\npointer\n"
// exit: 0
// path: length: len > 0
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: in[0] == '0'
// path: length: len > 1
// path: model: (in[1] | 32) == 120
// path: length: len > 2
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: length: len > 3
// path: model: (uint8_t)(in[3] - '0') > 9
// path: model: (uint8_t)((in[3] | 32) - 97) <= 5
// path: length: len > 4
// path: model: (uint8_t)(in[4] - '0') > 9
// path: model: (uint8_t)((in[4] | 32) - 97) > 5
// path: model: in[4] == ' ' || (uint8_t)(in[4] - 9) <= 4
// path: length: len > 5
// path: model: !(in[5] == ' ' || (uint8_t)(in[5] - 9) <= 4)
// path: model: in[5] != '-'
// path: model: in[5] != '+'
// path: model: in[5] == '0'
// path: length: len > 6
// path: model: (in[6] | 32) != 120
// path: model: (uint8_t)(in[6] - '0') <= 7
// path: …
// must: in[2] == '1'
// other: "0x1E 017 -12 99999999999999999999 0x10"
// other: "0x1F 017 -12 9223372036854775806 0x10"
#include <limits.h>
#include <stdio.h>

int main(void) {
    int a, b, used = 0;
    short c;
    long d;
    void *e;
    if (scanf("%i%i %hd%ld%p%n", &a, &b, &c, &d, &e, &used) != 5)
        return 1;
    if (a == 31 && b == 15 && c == -12)
        puts("31 15 -12");
    else
        puts("others");
    puts(d == LONG_MAX ? "limit" : "no limit");
    puts(e == (void *)16 && used > 0 ? "pointer" : "another pointer");
    return 0;
}
