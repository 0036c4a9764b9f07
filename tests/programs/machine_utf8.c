// A UTF-8 decoder that rejects overlong forms, surrogates and code points above U+10FFFF.
// opt: all
// run
// input: "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
// stdout: "4 points, euros\n"
// exit: 0
// path: length: len <= 31
// path: len > 0
// path: (int8_t)in[0] > -1
// path: in[0] >= 0
// path: in[0] <= 0x10ffff
// path: in[0] <= 0xd7ff
// path: len > 1
// path: (int8_t)in[1] <= -1
// path: (in[1] & 224) == 192
// path: len != 2
// path: (int8_t)in[2] <= -65
// path: ((in[1] & 31) << 6 | in[2] & 63) >= 128
// path: ((in[1] & 31) << 6 | in[2] & 63) <= 0x10ffff
// path: ((in[1] & 31) << 6 | in[2] & 63) <= 0xd7ff
// path: len > 3
// path: (int8_t)in[3] <= -1
// path: (in[3] & 224) != 192
// path: (in[3] & 240) == 224
// path: len != 4
// path: (int8_t)in[4] <= -65
// path: len != 5
// path: (int8_t)in[5] <= -65
// path: (((in[3] & 15) << 6 | in[4] & 63) << 6 | in[5] & 63) >= 2048
// path: (((in[3] & 15) << 6 | in[4] & 63) << 6 | in[5] & 63) <= 0x10ffff
// path: …
// same: "b\xc3\xa8\xe2\x82\xac\xf0\x9f\x98\x81"
// other: "a\xc3\xa9\xe2\x82\x2c\xf0\x9f\x98\x80"
// run
// input: "\xe0\x80\x80"
// stdout: "refused before 3\n"
// exit: 1
// path: length: len <= 31
// path: len > 0
// path: (int8_t)in[0] <= -1
// path: (in[0] & 224) != 192
// path: (in[0] & 240) == 224
// path: len != 1
// path: (int8_t)in[1] <= -65
// path: len != 2
// path: (int8_t)in[2] <= -65
// path: (((in[0] & 15) << 6 | in[1] & 63) << 6 | in[2] & 63) < 2048
// run
// input: "\xed\xa0\x80"
// stdout: "refused before 3\n"
// exit: 1
// path: length: len <= 31
// path: len > 0
// path: (int8_t)in[0] <= -1
// path: (in[0] & 224) != 192
// path: (in[0] & 240) == 224
// path: len != 1
// path: (int8_t)in[1] <= -65
// path: len != 2
// path: (int8_t)in[2] <= -65
// path: (((in[0] & 15) << 6 | in[1] & 63) << 6 | in[2] & 63) >= 2048
// path: (((in[0] & 15) << 6 | in[1] & 63) << 6 | in[2] & 63) <= 0x10ffff
// path: (((in[0] & 15) << 6 | in[1] & 63) << 6 | in[2] & 63) > 0xd7ff
// path: (((in[0] & 15) << 6 | in[1] & 63) << 6 | in[2] & 63) < 0xe000
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[32];
    long n = read(0, in, sizeof in);
    int points = 0, wide = 0;
    for (long i = 0; i < n;) {
        unsigned b = in[i++], c, need, least;
        if (b < 0x80) c = b, need = 0, least = 0;
        else if (b >> 5 == 6) c = b & 31, need = 1, least = 0x80;
        else if (b >> 4 == 14) c = b & 15, need = 2, least = 0x800;
        else if (b >> 3 == 30) c = b & 7, need = 3, least = 0x10000;
        else return printf("stray at %ld\n", i - 1), 1;
        for (; need; need--) {
            if (i == n || in[i] >> 6 != 2)
                return printf("cut at %ld\n", i), 1;
            c = c << 6 | (in[i++] & 63);
        }
        if (c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            return printf("refused before %ld\n", i), 1;
        points++;
        wide += c == 0x20ac;
    }
    printf("%d points, %s\n", points, wide ? "euros" : "no euros");
    return 0;
}
