// ctype macros of the header: they read the locale's tables at the input byte.
// opt: all
// run
// input: "aZ5 _\n"
// stdout: "2 1 2 1 1\n"
// exit: 0
// path: length: len > 0
// path: (table_…[in[0] + 128] & 1024) != 0
// path: (table_…[in[0] + 128] & 2048) == 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[0] + 128] & 4) == 0
// path: (table_…[in[0] + 128] & 256) == 0
// path: length: len > 1
// path: (table_…[in[1] + 128] & 1024) != 0
// path: (table_…[in[1] + 128] & 2048) == 0
// path: (table_…[in[1] + 128] & 8192) == 0
// path: (table_…[in[1] + 128] & 4) == 0
// path: (table_…[in[1] + 128] & 256) != 0
// path: length: len > 2
// path: (table_…[in[2] + 128] & 1024) == 0
// path: (table_…[in[2] + 128] & 2048) != 0
// path: (table_…[in[2] + 128] & 8192) == 0
// path: (table_…[in[2] + 128] & 4) == 0
// path: (table_…[in[2] + 128] & 256) == 0
// path: length: len > 3
// path: (table_…[in[3] + 128] & 1024) == 0
// path: (table_…[in[3] + 128] & 2048) == 0
// path: (table_…[in[3] + 128] & 8192) != 0
// path: (table_…[in[3] + 128] & 4) == 0
// path: (table_…[in[3] + 128] & 256) == 0
// path: …
// same: "bY6 -\n"
// other: "aZx _\n"
#include <ctype.h>
#include <stdio.h>

int main(void) {
    int alpha = 0, digit = 0, space = 0, punct = 0, upper = 0;
    for (int c; (c = getchar()) != EOF;) {
        if (isalpha(c)) alpha++;
        if (isdigit(c)) digit++;
        if (isspace(c)) space++;
        if (ispunct(c)) punct++;
        if (isupper(c)) upper++;
    }
    printf("%d %d %d %d %d\n", alpha, digit, space, punct, upper);
    return 0;
}
