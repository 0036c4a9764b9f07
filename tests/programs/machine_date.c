// Days between dates: tables of month lengths, leap years, and arithmetic that must agree.
// opt: all
// run
// input: "20240301"
// stdout: "day sixty-one\n"
// exit: 0
// path: length: len > 7
// path: (int8_t)in[0] >= '0'
// path: in[0] <= '9'
// path: (int8_t)in[1] >= '0'
// path: in[1] <= '9'
// path: (int8_t)in[2] >= '0'
// path: in[2] <= '9'
// path: (int8_t)in[3] >= '0'
// path: in[3] <= '9'
// path: (int8_t)in[4] >= '0'
// path: in[4] <= '9'
// path: (int8_t)in[5] >= '0'
// path: in[5] <= '9'
// path: (int8_t)in[6] >= '0'
// path: in[6] <= '9'
// path: (int8_t)in[7] >= '0'
// path: in[7] <= '9'
// path: in[5] - '0' + (in[4] - '0') * 10 >= 1
// path: (uint32_t)(in[5] - '0' + (in[4] - '0') * 10) <= 12
// path: in[7] - '0' + (in[6] - '0') * 10 >= 1
// path: in[5] - '0' + (in[4] - '0') * 10 != 2
// path: month[(uint32_t)(in[5] - '0' + (in[4] - '0') * 10 - 1)] >= (uint32_t)(in[7] - '0' + (in[6] - '0') * 10)
// path: in[5] - '0' + (in[4] - '0') * 10 != 1
// path: (uint32_t)(in[5] - '0' + (in[4] - '0') * 10 - 1) > 1
// path: …
// other: "20230301"
// run
// input: "20241301"
// stdout: "no such day\n"
// exit: 1
// path: length: len > 7
// path: (int8_t)in[0] >= '0'
// path: in[0] <= '9'
// path: (int8_t)in[1] >= '0'
// path: in[1] <= '9'
// path: (int8_t)in[2] >= '0'
// path: in[2] <= '9'
// path: (int8_t)in[3] >= '0'
// path: in[3] <= '9'
// path: (int8_t)in[4] >= '0'
// path: in[4] <= '9'
// path: (int8_t)in[5] >= '0'
// path: in[5] <= '9'
// path: (int8_t)in[6] >= '0'
// path: in[6] <= '9'
// path: (int8_t)in[7] >= '0'
// path: in[7] <= '9'
// path: in[5] - '0' + (in[4] - '0') * 10 >= 1
// path: (uint32_t)(in[5] - '0' + (in[4] - '0') * 10) > 12
#include <stdio.h>
#include <unistd.h>

static const unsigned char month[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int main(void) {
    char in[8];
    if (read(0, in, 8) != 8)
        return 2;
    int v[3] = {0}, width[3] = {4, 2, 2}, at = 0;
    for (int f = 0; f < 3; f++)
        for (int k = 0; k < width[f]; k++, at++) {
            if (in[at] < '0' || in[at] > '9')
                return puts("no digit"), 1;
            v[f] = v[f] * 10 + in[at] - '0';
        }
    int leap = (v[0] % 4 == 0) - (v[0] % 100 == 0) + (v[0] % 400 == 0);
    if (v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > month[v[1] - 1] + (v[1] == 2 && leap))
        return puts("no such day"), 1;
    int day = v[2];
    for (int m = 0; m < v[1] - 1; m++)
        day += month[m] + (m == 1 && leap);
    puts(day == 61 ? "day sixty-one" : "another day");
    return 0;
}
