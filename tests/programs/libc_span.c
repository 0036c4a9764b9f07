// strspn, strcspn and strpbrk: character classes written as strings.
// run
// input: "0042abc!x"
// stdout: "4 3 7\nbang\n"
// exit: 0
// path: length: len <= 14
// path: len >= 1
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: model: (uint8_t)(in[4] - '0') > 9
// path: model: (uint8_t)(in[4] - 'a') <= 2
// path: model: (uint8_t)(in[5] - 'a') <= 2
// path: model: (uint8_t)(in[6] - 'a') <= 2
// path: model: (uint8_t)(in[7] - 'a') > 2
// path: model: !(in[0] == '\0' || in[0] == '!' || in[0] == '?')
// path: model: !(in[1] == '\0' || in[1] == '!' || in[1] == '?')
// path: model: !(in[2] == '\0' || in[2] == '!' || in[2] == '?')
// path: model: !(in[3] == '\0' || in[3] == '!' || in[3] == '?')
// path: model: !(in[4] == '\0' || in[4] == '!' || in[4] == '?')
// path: model: !(in[5] == '\0' || in[5] == '!' || in[5] == '?')
// path: model: !(in[6] == '\0' || in[6] == '!' || in[6] == '?')
// path: model: in[7] == '\0' || in[7] == '!' || in[7] == '?'
// path: model: !(in[0] == '\0' || in[0] == '!' || (uint8_t)(in[0] - 'x') <= 2)
// path: model: !(in[1] == '\0' || in[1] == '!' || (uint8_t)(in[1] - 'x') <= 2)
// path: model: !(in[2] == '\0' || in[2] == '!' || (uint8_t)(in[2] - 'x') <= 2)
// path: model: !(in[3] == '\0' || in[3] == '!' || (uint8_t)(in[3] - 'x') <= 2)
// path: model: !(in[4] == '\0' || in[4] == '!' || (uint8_t)(in[4] - 'x') <= 2)
// path: …
// same: "0024acb!y"
// other: "0042ab!cx"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[16] = {0};
    if (read(0, in, 15) < 1)
        return 2;
    size_t digits = strspn(in, "0123456789");
    size_t letters = strspn(in + digits, "abc");
    size_t stop = strcspn(in, "!?");
    printf("%zu %zu %zu\n", digits, letters, stop);
    char *p = strpbrk(in, "xyz!");
    if (!p)
        return 1;
    puts(*p == '!' ? "bang" : "letter");
    return 0;
}
