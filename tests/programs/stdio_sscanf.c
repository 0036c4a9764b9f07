// sscanf on labelled text in memory: a date.
// run
// input: "2024-02-29"
// stdout: "a day\n"
// exit: 0
// path: length: len > 9
// path: model: in[0] != '\0'
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: in[1] != '\0'
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: model: in[2] != '\0'
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: model: in[3] != '\0'
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: model: in[4] != '\0'
// path: model: in[4] == '-'
// path: model: in[5] != '\0'
// path: model: !(in[5] == ' ' || (uint8_t)(in[5] - 9) <= 4)
// path: model: in[5] != '-'
// path: model: in[5] != '+'
// path: model: (uint8_t)(in[5] - '0') <= 9
// path: model: in[6] != '\0'
// path: model: (uint8_t)(in[6] - '0') <= 9
// path: model: in[7] != '\0'
// path: model: in[7] == '-'
// path: model: in[8] != '\0'
// path: …
// same: "2028-02-29"
// other: "2023-02-29"
// run
// input: "2024/02/29"
// stdout: "no date\n"
// exit: 1
// path: length: len > 9
// path: model: in[0] != '\0'
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: in[1] != '\0'
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: model: in[2] != '\0'
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: model: in[3] != '\0'
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: model: in[4] != '\0'
// path: model: in[4] != '-'
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[16] = {0};
    int y, m, d;
    if (read(0, in, 10) != 10)
        return 2;
    if (sscanf(in, "%4d-%2d-%2d", &y, &m, &d) != 3)
        return puts("no date"), 1;
    int leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    if (m == 2 && d == 29 && !leap)
        return puts("no such day"), 1;
    puts(m >= 1 && m <= 12 && d >= 1 && d <= 31 ? "a day" : "out of range");
    return 0;
}
