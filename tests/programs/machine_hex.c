// Pairs of hex digits to bytes, by arithmetic instead of tables.
// opt: all
// run
// input: "4f4B"
// stdout: "OK\n"
// exit: 0
// path: length: len <= 7
// path: len > 1
// path: (uint32_t)((int8_t)in[0] - '0') < 10
// path: (uint32_t)((int8_t)in[1] - '0') >= 10
// path: ((uint32_t)(int8_t)in[1] | 32) - 97 < 6
// path: (int)(((uint32_t)(int8_t)in[1] | 32) - 87 | (uint32_t)((int8_t)in[0] - '0')) >= 0
// path: len > 3
// path: (uint32_t)((int8_t)in[2] - '0') < 10
// path: (uint32_t)((int8_t)in[3] - '0') >= 10
// path: ((uint32_t)(int8_t)in[3] | 32) - 97 < 6
// path: (int)(((uint32_t)(int8_t)in[3] | 32) - 87 | (uint32_t)((int8_t)in[2] - '0')) >= 0
// path: len <= 5
// path: select: (int8_t)(((uint32_t)(int8_t)in[1] | 32) - 87 | (uint32_t)((int8_t)in[0] - '0') << 4) == 79 && (int8_t)(((uint32_t)(int8_t)in[3] | 32) - 87 | (…
// same: "4F4b"
// other: "4f4C"
// run
// input: "4g"
// stdout: "not hex\n"
// exit: 1
// path: length: len <= 7
// path: len > 1
// path: (uint32_t)((int8_t)in[0] - '0') < 10
// path: (uint32_t)((int8_t)in[1] - '0') >= 10
// path: ((uint32_t)(int8_t)in[1] | 32) - 97 >= 6
// path: (int)((uint32_t)((int8_t)in[0] - '0') | 0xffffffff) < 0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int nibble(int c) {
    if ((unsigned)(c - '0') < 10)
        return c - '0';
    c |= 0x20;
    return (unsigned)(c - 'a') < 6 ? c - 'a' + 10 : -1;
}

int main(void) {
    char in[8], out[5] = {0};
    long n = read(0, in, sizeof in);
    for (long i = 0; i + 1 < n; i += 2) {
        int hi = nibble(in[i]), lo = nibble(in[i + 1]);
        if ((hi | lo) < 0)
            return puts("not hex"), 1;
        out[i / 2] = (char)(hi << 4 | lo);
    }
    puts(strcmp(out, "OK") == 0 ? "OK" : "something else");
    return 0;
}
