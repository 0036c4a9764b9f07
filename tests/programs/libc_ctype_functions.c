// ctype through function pointers, so that the functions themselves are called.
// run
// input: "fG7 \t~\x01"
// stdout: "c71 c52 8d1 214 304 058 100 \n"
// exit: 0
// path: length: len > 6
// path: (table_…[in[0] + 128] & 8) != 0
// path: (table_…[in[0] + 128] & 1024) != 0
// path: (table_…[in[0] + 128] & 1) == 0
// path: (table_…[in[0] + 128] & 2) == 0
// path: (table_…[in[0] + 128] & 2048) == 0
// path: (table_…[in[0] + 128] & 0x8000) != 0
// path: (table_…[in[0] + 128] & 512) != 0
// path: (table_…[in[0] + 128] & 0x4000) != 0
// path: (table_…[in[0] + 128] & 4) == 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[0] + 128] & 256) == 0
// path: (table_…[in[0] + 128] & 4096) != 0
// path: (table_…[in[1] + 128] & 8) != 0
// path: (table_…[in[1] + 128] & 1024) != 0
// path: (table_…[in[1] + 128] & 1) == 0
// path: (table_…[in[1] + 128] & 2) == 0
// path: (table_…[in[1] + 128] & 2048) == 0
// path: (table_…[in[1] + 128] & 0x8000) != 0
// path: (table_…[in[1] + 128] & 512) == 0
// path: (table_…[in[1] + 128] & 0x4000) != 0
// path: (table_…[in[1] + 128] & 4) == 0
// path: (table_…[in[1] + 128] & 8192) == 0
// path: (table_…[in[1] + 128] & 256) != 0
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
            if (is[k](in[i]))
                bits |= 1u << (11 - k);
        printf("%03x ", bits);
    }
    puts("");
    return 0;
}
