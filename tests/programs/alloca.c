// alloca with a size from the input, in a loop; another function gets the memory.
// opt: all
// run
// input: "\x02\x05hello!!"
// stdout: "both vowels\n"
// exit: 0
// path: length: len <= 14
// path: len >= 3
// path: (int8_t)in[0] >= 1
// path: (int8_t)in[0] + 2 <= 15
// path: check: (uint32_t)(int8_t)in[0] <= 14
// path: pin: in[0] == 2
// path: in[2] != 'e'
// path: (uint32_t)(int8_t)in[0] > 1
// path: in[3] == 'e'
// path: (uint32_t)(int8_t)in[0] <= 2
// path: (int8_t)in[1] >= 1
// path: (int8_t)in[0] + 2 + (int8_t)in[1] <= 15
// path: check: (uint32_t)(int8_t)in[1] <= 12
// path: pin: in[1] == 5
// path: in[4] != 'e'
// path: (uint32_t)(int8_t)in[1] > 1
// path: in[5] != 'e'
// path: (uint32_t)(int8_t)in[1] > 2
// path: in[6] != 'e'
// path: (uint32_t)(int8_t)in[1] > 3
// path: in[7] != 'e'
// path: (uint32_t)(int8_t)in[1] > 4
// path: in[8] != 'e'
// path: (uint32_t)(int8_t)in[1] <= 5
// path: …
// other: "\x02\x04hello!!"
#include <alloca.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static int vowels(const char *s, int n) {
    int count = 0;
    for (int i = 0; i < n; i++)
        count += s[i] == 'e' || s[i] == 'o';
    return count;
}

int main(void) {
    char in[16] = {0};
    int total = 0, at = 2;
    if (read(0, in, 15) < 3)
        return 2;
    for (int i = 0; i < 2; i++) {
        int n = in[i];
        if (n < 1 || at + n > 15)
            return 1;
        char *s = alloca(n);
        memcpy(s, in + at, n);
        total += vowels(s, n);
        at += n;
    }
    printf("%s\n", total == 2 ? "both vowels" : "other");
    return 0;
}
