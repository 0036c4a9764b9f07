// strtod, atof and printf of floats: a number is an expression over its digits, and the rest of the text keeps its labels.
// run
// input: "2.5e1;x"
// stdout: "25.000 25 much\nended by a semicolon\n"
// exit: 0
// path: length: len <= 14
// path: len >= 1
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: in[0] != '0'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[1] - '0') > 9
// path: model: in[1] == '.'
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: model: (uint8_t)(in[3] - '0') > 9
// path: model: (in[3] | 32) == 101
// path: model: in[4] != '-'
// path: model: in[4] != '+'
// path: model: (uint8_t)(in[4] - '0') <= 9
// path: model: (uint8_t)(in[4] - '0') <= 9
// path: model: (uint8_t)(in[5] - '0') > 9
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: in[0] != '0'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: …
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    char in[16] = {0};
    if (read(0, in, 15) < 1)
        return 2;
    char *end;
    double d = strtod(in, &end);
    printf("%.3f %g %s\n", d, atof(in), d > 20 ? "much" : "little");
    if (end == in)
        return 1;
    puts(*end == ';' ? "ended by a semicolon" : "ended otherwise");
    return 0;
}
