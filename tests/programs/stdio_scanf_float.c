// scanf and sscanf of floats: a number is an expression over its digits, as in the other conversions.
// run
// input: "1.5 x7"
// stdout: "above one\nx\nseven\n"
// exit: 0
// path: length: len > 0
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (in[0] | 32) != 110
// path: model: (in[0] | 32) != 105
// path: model: in[0] != '0'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: length: len > 1
// path: model: (uint8_t)(in[1] - '0') > 9
// path: model: (in[1] | 32) != 101
// path: model: in[1] == '.'
// path: length: len > 2
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: length: len > 3
// path: model: (uint8_t)(in[3] - '0') > 9
// path: model: (in[3] | 32) != 101
// path: model: in[3] == ' ' || (uint8_t)(in[3] - 9) <= 4
// path: length: len > 4
// path: model: !(in[4] == ' ' || (uint8_t)(in[4] - 9) <= 4)
// path: length: len > 5
// path: model: !(in[5] == ' ' || (uint8_t)(in[5] - 9) <= 4)
// path: model: in[5] != '-'
// path: model: in[5] != '+'
// path: …
#include <stdio.h>

int main(void) {
    double d;
    char c;
    int n;
    if (scanf("%lf %c%d", &d, &c, &n) != 3)
        return puts("bad"), 1;
    puts(d > 1 ? "above one" : "up to one");
    puts(c == 'x' ? "x" : "not x");
    puts(n == 7 ? "seven" : "not seven");
    return 0;
}
