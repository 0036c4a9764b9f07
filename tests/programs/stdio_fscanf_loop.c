// fscanf in a loop until it fails: sums the numbers of the input.
// run
// input: "5 6\n7 x"
// stdout: "3 numbers, then something\neighteen\n"
// exit: 0
// path: length: len > 0
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: length: len > 1
// path: model: (uint8_t)(in[1] - '0') > 9
// path: model: in[1] == ' ' || (uint8_t)(in[1] - 9) <= 4
// path: length: len > 2
// path: model: !(in[2] == ' ' || (uint8_t)(in[2] - 9) <= 4)
// path: model: in[2] != '-'
// path: model: in[2] != '+'
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: length: len > 3
// path: model: (uint8_t)(in[3] - '0') > 9
// path: model: in[3] == ' ' || (uint8_t)(in[3] - 9) <= 4
// path: length: len > 4
// path: model: !(in[4] == ' ' || (uint8_t)(in[4] - 9) <= 4)
// path: model: in[4] != '-'
// path: model: in[4] != '+'
// path: model: (uint8_t)(in[4] - '0') <= 9
// path: length: len > 5
// path: model: (uint8_t)(in[5] - '0') > 9
// path: model: in[5] == ' ' || (uint8_t)(in[5] - 9) <= 4
// path: …
// same: "6 5\n7 y"
// other: "5 6\n7 8"
#include <stdio.h>

int main(void) {
    int n, sum = 0, count = 0;
    while (count < 8 && fscanf(stdin, "%d", &n) == 1) {
        sum += n;
        count++;
    }
    int c = fgetc(stdin);
    printf("%d numbers, then %s\n", count, c == EOF ? "the end" : "something");
    puts(sum == 18 ? "eighteen" : "other");
    return 0;
}
