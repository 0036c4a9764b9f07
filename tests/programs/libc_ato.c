// atoi, atol, atoll: no end pointer, leading space and sign.
// run
// input: " 12 -7 +300000000000"
// stdout: "a dozen\nminus\nwide\n"
// exit: 0
// path: length: len <= 30
// path: len >= 1
// path: model: in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4
// path: model: !(in[1] == ' ' || (uint8_t)(in[1] - 9) <= 4)
// path: model: in[1] != '-'
// path: model: in[1] != '+'
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: model: (uint8_t)(in[3] - '0') > 9
// path: model: in[1] != ' '
// path: model: in[1] != '\0'
// path: model: in[2] != ' '
// path: model: in[2] != '\0'
// path: model: in[3] == ' '
// path: model: in[3] == ' ' || (uint8_t)(in[3] - 9) <= 4
// path: model: !(in[4] == ' ' || (uint8_t)(in[4] - 9) <= 4)
// path: model: in[4] == '-'
// path: model: (uint8_t)(in[5] - '0') <= 9
// path: model: (uint8_t)(in[6] - '0') > 9
// path: model: in[4] != ' '
// path: model: in[4] != '\0'
// path: model: in[5] != ' '
// path: model: in[5] != '\0'
// path: model: in[6] == ' '
// path: …
// other: " 13 -7 +300000000000"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[32] = {0};
    if (read(0, in, 31) < 1)
        return 2;
    int a = atoi(in);
    char *p = strchr(in + 1, ' ');
    if (!p)
        return 1;
    long b = atol(p);
    p = strchr(p + 1, ' ');
    if (!p)
        return 1;
    long long c = atoll(p);
    puts(a * 10 == 120 ? "a dozen" : "other");
    puts(b < 0 ? "minus" : "plus");
    puts(c > 1LL << 32 ? "wide" : "narrow");
    return 0;
}
