// Dotted addresses by strtol and end pointers; leading zeros and ranges are refused.
// run
// input: "10.0.0.255\n"
// stdout: "private\n"
// exit: 0
// path: length: len > 0
// path: model: in[0] != '\n'
// path: length: len > 1
// path: model: in[1] != '\n'
// path: length: len > 2
// path: model: in[2] != '\n'
// path: length: len > 3
// path: model: in[3] != '\n'
// path: length: len > 4
// path: model: in[4] != '\n'
// path: length: len > 5
// path: model: in[5] != '\n'
// path: length: len > 6
// path: model: in[6] != '\n'
// path: length: len > 7
// path: model: in[7] != '\n'
// path: length: len > 8
// path: model: in[8] != '\n'
// path: length: len > 9
// path: model: in[9] != '\n'
// path: length: len > 10
// path: model: in[10] == '\n'
// path: (table_…[in[0] + 128] & 2048) != 0
// path: in[0] != '0'
// path: …
// other: "10.0.0.256\n"
// run
// input: "1.2.3"
// stdout: "bad separator\n"
// exit: 1
// path: length: len > 0
// path: model: in[0] != '\n'
// path: length: len > 1
// path: model: in[1] != '\n'
// path: length: len > 2
// path: model: in[2] != '\n'
// path: length: len > 3
// path: model: in[3] != '\n'
// path: length: len > 4
// path: model: in[4] != '\n'
// path: length: len <= 5
// path: (table_…[in[0] + 128] & 2048) != 0
// path: in[0] != '0'
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[1] - '0') > 9
// path: (uint8_t)(in[0] - '0') <= 255
// path: in[1] == '.'
// path: (table_…[in[2] + 128] & 2048) != 0
// path: in[2] != '0'
// path: model: !(in[2] == ' ' || (uint8_t)(in[2] - 9) <= 4)
// path: model: in[2] != '-'
// path: …
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char line[24], *p = line, *end;
    unsigned address = 0;
    if (!fgets(line, sizeof line, stdin))
        return 2;
    for (int i = 0; i < 4; i++) {
        if (!isdigit((unsigned char)*p) || (*p == '0' && isdigit((unsigned char)p[1])))
            return puts("no number"), 1;
        long n = strtol(p, &end, 10);
        if (n > 255)
            return puts("too large"), 1;
        address = address << 8 | (unsigned)n;
        if (*end != (i < 3 ? '.' : '\n'))
            return puts("bad separator"), 1;
        p = end + 1;
    }
    puts(address >> 24 == 10 ? "private" : "public");
    return 0;
}
