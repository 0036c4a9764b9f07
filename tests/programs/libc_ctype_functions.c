// ctype through function pointers, so that the functions themselves are called.
// run
// input: "fG7 \t~\x01"
// stdout: "c71 c52 8d1 214 304 058 100 \n"
// exit: 0
// path: length: len > 6
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[0] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: check: in[1] * 2 + 256 <= 766
// path: …
// same: "eH8 \t}\x02"
// other: "gG7 \t~\x01"
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    static int (*const is[])(int) = {isalnum, isalpha, isblank, iscntrl, isdigit, isgraph,
                                     islower, isprint, ispunct, isspace, isupper, isxdigit};
    unsigned char in[7];
    if (read(0, in, 7) != 7)
        return 2;
    for (int i = 0; i < 7; i++) {
        unsigned bits = 0;
        for (int k = 0; k < 12; k++)
            bits = bits << 1 | (is[k](in[i]) != 0);
        printf("%03x ", bits);
    }
    puts("");
    return 0;
}
