// toupper and tolower as macro tables and as functions: case-insensitive keywords.
// opt: all
// run
// input: "SeLeCt"
// stdout: "select\nS\n"
// exit: 0
// path: length: len > 5
// path: table_…[in[0] + 128] == 115
// path: table_…[in[1] + 128] == 101
// path: table_…[in[2] + 128] == 108
// path: table_…[in[3] + 128] == 101
// path: table_…[in[4] + 128] == 99
// path: table_…[in[5] + 128] == 116
// path: check: (int8_t)in[0] * 4 + 512 <= 1532
// path: select: table_…[(int8_t)in[0] + 128] == 83
// same: "select"
// other: "selext"
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[6];
    if (read(0, in, 6) != 6)
        return 2;
    const char *want = "select";
    for (int i = 0; i < 6; i++)
        if (tolower((unsigned char)in[i]) != want[i])
            return puts("something else"), 1;
    puts("select");
    int (*up)(int) = toupper;
    puts(up(in[0]) == 'S' ? "S" : "impossible");
    return 0;
}
