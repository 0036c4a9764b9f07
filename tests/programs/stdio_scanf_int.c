// scanf of integers: %d %x %o %i %u %hhd %ld, with literals in between.
// run
// input: "12,ff:17 0x10 250 -5 123456789012"
// stdout: "7 read\ntwelve and 255\nfifteen and sixteen\nmuch and minus five\nwide\n"
// exit: 0
// path: length: len > 0
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: length: len > 1
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: length: len > 2
// path: model: (uint8_t)(in[2] - '0') > 9
// path: model: in[2] == ','
// path: length: len > 3
// path: model: !(in[3] == ' ' || (uint8_t)(in[3] - 9) <= 4)
// path: model: in[3] != '-'
// path: model: in[3] != '+'
// path: model: in[3] != '0'
// path: model: (uint8_t)(in[3] - '0') > 9
// path: model: (uint8_t)((in[3] | 32) - 97) <= 5
// path: length: len > 4
// path: model: (uint8_t)(in[4] - '0') > 9
// path: model: (uint8_t)((in[4] | 32) - 97) <= 5
// path: length: len > 5
// path: model: (uint8_t)(in[5] - '0') > 9
// path: model: (uint8_t)((in[5] | 32) - 97) > 5
// path: model: in[5] == ':'
// path: …
// same: "12,fF:17 0x10 250 -5 123456789012"
// other: "13,ff:17 0x10 250 -5 123456789012"
#include <stdio.h>

int main(void) {
    int a, d;
    unsigned b, c, e;
    signed char f;
    long g;
    int n = scanf("%d,%x:%o %i %u %hhd %ld", &a, &b, &c, &d, &e, &f, &g);
    printf("%d read\n", n);
    if (n < 7)
        return 1;
    puts(a == 12 && b == 255 ? "twelve and 255" : "other");
    puts(c == 15 && d == 16 ? "fifteen and sixteen" : "other");
    puts(e > 200 && f == -5 ? "much and minus five" : "other");
    puts(g > 1L << 32 ? "wide" : "narrow");
    return 0;
}
