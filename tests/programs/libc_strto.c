// strtol, strtoul, strtoll, strtoull in several bases, with signs, prefixes and text after the number.
// run
// input: "  -42;0x1F;777;zz;9"
// stdout: "minus forty-two\nabove thirty\nall bits\nzz\n"
// exit: 0
// path: length: len <= 46
// path: len >= 1
// path: model: in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4
// path: model: in[1] == ' ' || (uint8_t)(in[1] - 9) <= 4
// path: model: !(in[2] == ' ' || (uint8_t)(in[2] - 9) <= 4)
// path: model: in[2] == '-'
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: model: (uint8_t)(in[4] - '0') <= 9
// path: model: (uint8_t)(in[5] - '0') > 9
// path: in[5] == ';'
// path: model: !(in[6] == ' ' || (uint8_t)(in[6] - 9) <= 4)
// path: model: in[6] != '-'
// path: model: in[6] != '+'
// path: model: in[6] == '0'
// path: model: (in[7] | 32) == 120
// path: model: (uint8_t)(in[8] - '0') <= 9
// path: model: (uint8_t)(in[9] - '0') > 9
// path: model: (uint8_t)((in[9] | 32) - 97) <= 5
// path: model: (uint8_t)(in[10] - '0') > 9
// path: model: (uint8_t)((in[10] | 32) - 97) > 5
// path: in[10] == ';'
// path: model: !(in[11] == ' ' || (uint8_t)(in[11] - 9) <= 4)
// path: model: in[11] != '-'
// path: model: in[11] != '+'
// path: …
// same: "  -42;0x1f;777;ZZ;9"
// other: "  -43;0x1F;777;zz;9"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    char in[48] = {0}, *p = in;
    if (read(0, in, 47) < 1)
        return 2;
    long a = strtol(p, &p, 10);
    if (*p++ != ';')
        return puts("not a number"), 1;
    unsigned long b = strtoul(p, &p, 0);
    if (*p++ != ';')
        return puts("not a prefixed number"), 1;
    long long c = strtoll(p, &p, 8);
    if (*p++ != ';')
        return puts("not octal"), 1;
    unsigned long long d = strtoull(p, &p, 36);
    puts(a == -42 ? "minus forty-two" : "other");
    puts(b > 30 ? "above thirty" : "up to thirty");
    puts(c == 0777 ? "all bits" : "some bits");
    puts(d == 35 * 36 + 35 ? "zz" : "not zz");
    return 0;
}
