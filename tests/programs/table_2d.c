// A two-dimensional transition table: two symbolic indices in one address.
// opt: all
// run
// input: "0x1F"
// stdout: "hex\n"
// exit: 0
// path: length: len > 0
// path: in[0] == '0'
// path: length: len > 1
// path: in[1] != '0'
// path: in[1] == 'x'
// path: length: len > 2
// path: in[2] != '0'
// path: in[2] != 'x'
// path: in[2] > '0'
// path: in[2] < ':'
// path: length: len > 3
// path: in[3] != '0'
// path: in[3] != 'x'
// path: in[3] > '0'
// path: in[3] >= ':'
// path: in[3] > '@'
// path: in[3] < 'G'
// path: length: len <= 4
// same: "0x2E"
// other: "0y1F"
#include <stdio.h>

enum { START, ZERO, PREFIX, HEX, BAD, STATES };
enum { C0, CX, CDIGIT, CLETTER, COTHER, CLASSES };

static const short next[STATES][CLASSES] = {
    [START] = {ZERO, BAD, BAD, BAD, BAD},      [ZERO] = {BAD, PREFIX, BAD, BAD, BAD},
    [PREFIX] = {HEX, BAD, HEX, HEX, BAD},      [HEX] = {HEX, BAD, HEX, HEX, BAD},
    [BAD] = {BAD, BAD, BAD, BAD, BAD},
};

static int class_of(int c) {
    if (c == '0') return C0;
    if (c == 'x') return CX;
    if (c >= '1' && c <= '9') return CDIGIT;
    if (c >= 'A' && c <= 'F') return CLETTER;
    return COTHER;
}

int main(void) {
    int state = START;
    for (int c; (c = getchar()) != EOF;)
        state = next[state][class_of(c)];
    puts(state == HEX ? "hex" : "not hex");
    return 0;
}
