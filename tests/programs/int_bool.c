// Booleans are stored, negated, combined with and without short circuit, and counted.
// opt: all
// run
// input: "ab\n "
// stdout: "two letters and a stop\nbalanced\nends differ\n"
// exit: 1
// path: length: len > 3
// path: in[0] != ' '
// path: in[0] != '\n'
// path: in[1] != ' '
// path: in[1] != '\n'
// path: in[2] != ' '
// path: in[2] == '\n'
// path: in[3] == ' '
// path: ((uint8_t)(in[1] - 'a') < 26 & ((uint8_t)(in[2] - 'a') < 26 ^ 1) & (uint8_t)(in[0] - 'a') < 26) != 0
// path: ((uint8_t)(in[0] - 'a') < 26) + ((uint8_t)(in[1] - 'a') < 26) + ((uint8_t)(in[2] - 'a') < 26) + ((uint8_t)(in[3] - 'a') < 26) == 2
// path: ((uint8_t)(in[2] - 9) < 2) + (((uint8_t)(in[1] - 9) < 2) + ((uint8_t)(in[0] - 9) < 2)) == 1
// path: ((uint8_t)(in[3] - 'a') < 26 ^ (uint8_t)(in[0] - 'a') < 26) != 0
// same: "zz\n "
// other: "a1\n "
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool space(unsigned char c) { return c == ' ' || c == '\n' || c == '\t'; }
static bool lower(unsigned char c) { return c - 'a' < 26u; }

int main(void) {
    unsigned char in[4];
    bool flag[4];
    int lowers = 0, spaces = 0;
    if (read(0, in, 4) != 4)
        return 2;
    for (int i = 0; i < 4; i++) {
        flag[i] = lower(in[i]);
        lowers += flag[i];
        spaces += space(in[i]);
    }
    if (flag[0] & flag[1] & !flag[2])
        puts("two letters and a stop");
    if (lowers == 2 && spaces == 2)
        puts("balanced");
    if (flag[0] ^ flag[3])
        puts("ends differ");
    return !!in[0] + (lowers != spaces);
}
