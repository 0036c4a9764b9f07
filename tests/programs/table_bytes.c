// A class table of 256 entries is read at the input byte, and a second table at the result.
// opt: all
// run
// input: "a1 "
// stdout: "1 words, state 0\n"
// exit: 0
// path: length: len > 0
// path: check: class_of[in[0]] <= 8
// path: (int8_t)next[class_of[in[0]]] >= 0
// path: length: len > 1
// path: check: (int64_t)(uint32_t)(int8_t)next[class_of[in[0]]] * 3 + 0x… + class_of[in[1]] - 0x… <= 8
// path: (int8_t)next[(int64_t)(uint32_t)(int8_t)next[class_of[in[0]]] * 3 + 0x… + class_of[in[1]] - 0x…] >= 0
// path: next[class_of[in[0]]] != 0
// path: next[(int64_t)(uint32_t)(int8_t)next[class_of[in[0]]] * 3 + 0x… + class_of[in[1]] - 0x…] != 0
// path: length: len > 2
// path: check: (int64_t)(uint32_t)(int8_t)next[(int64_t)(uint32_t)(int8_t)next[class_of[in[0]]] * 3 + 0x… + class_of[in[1]] - 0x…] * 3 + 0x… + class_of[in[2]]…
// path: (int8_t)next[(int64_t)(uint32_t)(int8_t)next[(int64_t)(uint32_t)(int8_t)next[class_of[in[0]]] * 3 + 0x… + class_of[in[1]] - 0x…] * 3 + 0x… + class_of[…
// path: next[(int64_t)(uint32_t)(int8_t)next[class_of[in[0]]] * 3 + 0x… + class_of[in[1]] - 0x…] != 0
// path: next[(int64_t)(uint32_t)(int8_t)next[(int64_t)(uint32_t)(int8_t)next[class_of[in[0]]] * 3 + 0x… + class_of[in[1]] - 0x…] * 3 + 0x… + class_of[in[2]] -…
// path: length: len <= 3
// same: "b2 "
// other: "a11"
#include <stdio.h>
#include <string.h>

static unsigned char class_of[256];
static const signed char next[3][3] = {{1, -1, 0}, {1, 2, 0}, {-1, 2, 0}};

int main(void) {
    for (int c = 'a'; c <= 'z'; c++)
        class_of[c] = 0;
    memset(class_of, 2, 'a');
    memset(&class_of['z' + 1], 2, 255 - 'z');
    for (int c = '0'; c <= '9'; c++)
        class_of[c] = 1;
    int state = 0, words = 0;
    for (int c; (c = getchar()) != EOF;) {
        int s = next[state][class_of[c]];
        if (s < 0)
            return puts("stuck"), 1;
        if (state != 0 && s == 0)
            words++;
        state = s;
    }
    printf("%d words, state %d\n", words, state);
    return 0;
}
