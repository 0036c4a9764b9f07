// Case ranges (a GNU extension): large ones become comparisons, small ones cases.
// opt: all
// run
// input: "g5_"
// stdout: "letter\ndigit\nunderscore\n"
// exit: 0
// path: length: len > 0
// path: switch: in[0] == 'g'
// path: length: len > 1
// path: switch: in[1] == '5'
// path: length: len > 2
// path: switch: in[2] == '_'
// path: length: len <= 3
// other: "g5-"
#include <stdio.h>

static const char *classify(int c) {
    switch (c) {
    case 'a' ... 'f': return "hex letter";
    case 'g' ... 'z': return "letter";
    case '0' ... '9': return "digit";
    case '_': return "underscore";
    case 128 ... 255: return "high";
    default: return "other";
    }
}

int main(void) {
    for (int c; (c = getchar()) != EOF;)
        puts(classify(c));
    return 0;
}
