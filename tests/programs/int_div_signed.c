// Signed division truncates towards zero and remainder takes the sign of the dividend.
// opt: all
// run
// input: "\xf9\x02"
// stdout: "-7 / 2\nnegative rest\n"
// exit: 0
// path: length: len > 1
// path: in[1] != '\0'
// path: check: in[1] != '\0'
// path: check: in[1] != '\0'
// path: (int8_t)in[0] / (int8_t)in[1] == -3
// path: (int8_t)in[0] % (int8_t)in[1] == -1
// path: select: (int64_t)(int8_t)in[0] * 0x3b9aca07 / 10 % 3 < 0
// other: "\x07\x02"
// run
// input: "\x07\xfe"
// stdout: "7 / -2\nrest not negative\n"
// exit: 0
// path: length: len > 1
// path: in[1] != '\0'
// path: check: in[1] != '\0'
// path: check: in[1] != '\0'
// path: (int8_t)in[0] / (int8_t)in[1] == -3
// path: (int8_t)in[0] % (int8_t)in[1] != -1
// path: (int8_t)in[0] % (int8_t)in[1] == 1
// path: select: (int64_t)(int8_t)in[0] * 0x3b9aca07 / 10 % 3 >= 0
// run
// input: "\x80\xff"
// stdout: "-128 / -1 does not fit the char it came from\nnegative rest\n"
// exit: 0
// path: length: len > 1
// path: in[1] != '\0'
// path: check: in[1] != '\0'
// path: check: in[1] != '\0'
// path: (int8_t)in[0] / (int8_t)in[1] != -3
// path: (int8_t)in[0] / (int8_t)in[1] == 128
// path: select: (int64_t)(int8_t)in[0] * 0x3b9aca07 / 10 % 3 < 0
#include <stdio.h>
#include <unistd.h>

int main(void) {
    signed char in[2];
    if (read(0, in, 2) != 2 || in[1] == 0)
        return 2;
    int q = in[0] / in[1], r = in[0] % in[1];
    if (q == -3 && r == -1)
        puts("-7 / 2");
    else if (q == -3 && r == 1)
        puts("7 / -2");
    else if (q == 128)
        puts("-128 / -1 does not fit the char it came from");
    else
        puts("other");
    long s = (long)in[0] * 1000000007L / 10;
    puts(s % 3 < 0 ? "negative rest" : "rest not negative");
    return 0;
}
