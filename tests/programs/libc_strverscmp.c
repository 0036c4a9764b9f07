// strverscmp: a version is compared with a constant, and with another version.
// run
// input: "1.9"
// stdout: "old\n"
// exit: 0
// path: length: len <= 30
// path: len >= 1
// path: model: in[0] != ' '
// path: model: in[0] != '\0'
// path: model: in[1] != ' '
// path: model: in[1] != '\0'
// path: model: in[2] != ' '
// path: model: in[2] != '\0'
// path: length: len <= 3
// path: (in[0] != '1' ? (uint8_t)(in[0] - '1') <= 8 ? ((uint8_t)(in[1] - '0') <= 9 ? 1 : 0) != 0 ? (uint8_t)(in[1] - '0') <= 9 ? 1 : 0 : in[0] - '1' : in[0] -…
// same: "1.2"
// other: "1.19"
// run
// input: "1.10 1.9"
// stdout: "this\nnewer\n"
// exit: 0
// path: length: len <= 30
// path: len >= 1
// path: model: in[0] != ' '
// path: model: in[0] != '\0'
// path: model: in[1] != ' '
// path: model: in[1] != '\0'
// path: model: in[2] != ' '
// path: model: in[2] != '\0'
// path: model: in[3] != ' '
// path: model: in[3] != '\0'
// path: model: in[4] == ' '
// path: (in[0] != '1' ? (uint8_t)(in[0] - '1') <= 8 ? ((uint8_t)(in[1] - '0') <= 9 ? 1 : 0) != 0 ? (uint8_t)(in[1] - '0') <= 9 ? 1 : 0 : in[0] - '1' : in[0] -…
// path: select: (in[0] != '1' ? (uint8_t)(in[0] - '1') <= 8 ? ((uint8_t)(in[1] - '0') <= 9 ? 1 : 0) != 0 ? (uint8_t)(in[1] - '0') <= 9 ? 1 : 0 : in[0] - '1' :…
// path: model: in[0] == in[5]
// path: model: (uint8_t)(in[5] - '0') <= 9
// path: model: in[5] != '0'
// path: model: in[1] == in[6]
// path: model: (uint8_t)(in[6] - '0') > 9
// path: model: in[2] != in[7]
// path: model: (uint8_t)(in[2] - '1') <= 8
// path: model: (uint8_t)(in[7] - '1') <= 8
// path: length: len <= 8
// path: model: (uint8_t)(in[3] - '0') <= 9
// other: "1.10 1.99"
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[32] = {0};
    if (read(0, in, sizeof in - 1) < 1)
        return 2;
    char *second = strchr(in, ' ');
    if (second)
        *second++ = 0;
    int order = strverscmp(in, "1.10");
    puts(order < 0 ? "old" : order ? "new" : "this");
    if (second)
        puts(strverscmp(in, second) > 0 ? "newer" : "older");
    return 0;
}
