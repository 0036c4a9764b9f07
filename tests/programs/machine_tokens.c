// A tokenizer with lookahead of two: operators of one and two characters, numbers and names.
// opt: all
// run
// input: "a<<=1>=b"
// stdout: "2 names, 1 numbers, 0 + 1 + 1 operators\n"
// exit: 0
// path: length: len <= 31
// path: len >= 1
// path: in[0] != '\0'
// path: (table_…[in[0] + 128] & 1024) != 0
// path: (table_…[in[0] + 128] & 8) != 0
// path: (table_…[in[1] + 128] & 8) == 0
// path: in[1] != '_'
// path: in[1] != '\0'
// path: (table_…[in[1] + 128] & 1024) == 0
// path: in[1] != '_'
// path: (table_…[in[1] + 128] & 2048) == 0
// path: in[1] == '<'
// path: in[2] == in[1]
// path: in[3] == '='
// path: in[4] != '\0'
// path: (table_…[in[4] + 128] & 1024) == 0
// path: in[4] != '_'
// path: (table_…[in[4] + 128] & 2048) != 0
// path: (table_…[in[4] + 128] & 2048) != 0
// path: (table_…[in[5] + 128] & 2048) == 0
// path: in[5] != '\0'
// path: (table_…[in[5] + 128] & 1024) == 0
// path: in[5] != '_'
// path: (table_…[in[5] + 128] & 2048) == 0
// path: …
// same: "c<<=2>=d"
// other: "a<=1>=b!"
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[34] = {0};
    if (read(0, in, 32) < 1)
        return 2;
    int kinds[5] = {0};
    for (unsigned char *p = in; *p;) {
        if (isalpha(*p) || *p == '_') {
            while (isalnum(*p) || *p == '_')
                p++;
            kinds[0]++;
        } else if (isdigit(*p)) {
            while (isdigit(*p))
                p++;
            kinds[1]++;
        } else if ((*p == '<' || *p == '>') && p[1] == *p && p[2] == '=') {
            p += 3, kinds[4]++;
        } else if ((*p == '<' || *p == '>' || *p == '=') && p[1] == '=') {
            p += 2, kinds[3]++;
        } else {
            p++, kinds[2]++;
        }
    }
    printf("%d names, %d numbers, %d + %d + %d operators\n", kinds[0], kinds[1], kinds[2], kinds[3], kinds[4]);
    return 0;
}
