// Base64: a reverse table built at run time, groups of four, padding.
// opt: all
// run
// input: "c2VjcmV0"
// stdout: "the secret\n"
// exit: 0
// path: length: len <= 15
// path: len > 3
// path: in[0] != '='
// path: (int8_t)main.value[in[0]] >= 0
// path: in[1] != '='
// path: (int8_t)main.value[in[1]] >= 0
// path: in[2] != '='
// path: (int8_t)main.value[in[2]] >= 0
// path: in[3] != '='
// path: (int8_t)main.value[in[3]] >= 0
// path: len >= 8
// path: in[4] != '='
// path: (int8_t)main.value[in[4]] >= 0
// path: in[5] != '='
// path: (int8_t)main.value[in[5]] >= 0
// path: in[6] != '='
// path: (int8_t)main.value[in[6]] >= 0
// path: in[7] != '='
// path: (int8_t)main.value[in[7]] >= 0
// path: len < 12
// path: (int8_t)(((uint32_t)(int8_t)main.value[in[3]] | ((uint32_t)(int8_t)main.value[in[2]] | ((uint32_t)(int8_t)main.value[in[1]] | ((uint32_t)(int8_t)main.…
// must: in[0] == 'c'
// other: "c2Vjcm90"
// run
// input: "aGk="
// stdout: "2 bytes\n"
// exit: 0
// path: length: len <= 15
// path: len > 3
// path: in[0] != '='
// path: (int8_t)main.value[in[0]] >= 0
// path: in[1] != '='
// path: (int8_t)main.value[in[1]] >= 0
// path: in[2] != '='
// path: (int8_t)main.value[in[2]] >= 0
// path: in[3] == '='
// path: len < 8
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static signed char value[256];
    memset(value, -1, sizeof value);
    for (int i = 0; i < 64; i++)
        value[(unsigned char)alphabet[i]] = (signed char)i;
    unsigned char in[16], out[13] = {0};
    long n = read(0, in, 16), m = 0;
    for (long i = 0; i + 4 <= n; i += 4) {
        unsigned word = 0, pad = 0;
        for (int k = 0; k < 4; k++) {
            int v = value[in[i + k]];
            if (in[i + k] == '=')
                pad++, v = 0;
            else if (v < 0 || pad)
                return puts("bad character"), 1;
            word = word << 6 | (unsigned)v;
        }
        for (int k = 0; k < 3 - (int)(pad > 2 ? 2 : pad); k++)
            out[m++] = word >> (16 - 8 * k) & 255;
    }
    if (m == 6 && memcmp(out, "secret", 6) == 0)
        puts("the secret");
    else
        printf("%ld bytes\n", m);
    return 0;
}
