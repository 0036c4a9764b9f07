// Vector comparison gives masks; the masks select and are summed.
// run
// input: "a1b2c3d4"
// stdout: "four digits\nten or more\n"
// exit: 0
// path: length: len > 7
// path: select: 0 - (((uint8_t)(in[0] - '0') < 10 ^ 1) - 1) - (((uint8_t)(in[1] - '0') < 10 ^ 1) - 1) - (((uint8_t)(in[2] - '0') < 10 ^ 1) - 1) - (((uint8_t)(…
// path: select: ((uint8_t)(in[0] - '0') < 10 ? (int8_t)(in[0] - '0') : 0) + ((uint8_t)(in[1] - '0') < 10 ? (int8_t)(in[1] - '0') : 0) + ((uint8_t)(in[2] - '0'…
// same: "z9b2c3d4"
// other: "aab2c3d4"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

typedef int8_t v8 __attribute__((vector_size(8)));

int main(void) {
    v8 in;
    if (read(0, &in, 8) != 8)
        return 2;
    v8 digit = (in >= '0') & (in <= '9');
    v8 value = digit & (in - '0');
    int count = 0, sum = 0;
    for (int i = 0; i < 8; i++) {
        count -= digit[i];
        sum += value[i];
    }
    puts(count == 4 ? "four digits" : "other count");
    puts(sum >= 10 ? "ten or more" : "less");
    return 0;
}
