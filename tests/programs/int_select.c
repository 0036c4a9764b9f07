// Ternaries that become selects, nested, with labelled condition, labelled arms, or both.
// opt: all
// run
// input: "7A\x03"
// stdout: "ten\na digit came through\n"
// exit: 5
// path: length: len > 2
// path: in[0] > '/'
// path: in[0] < ':'
// path: select: (in[1] & 32) == 0
// path: in[2] > 1
// path: in[0] - '0' >= 0
// path: (uint32_t)(in[0] - '0') > 5
// path: select: in[0] < 'A'
// same: "9A\x03"
// other: "7a\x03"
// run
// input: "zz\x00"
// stdout: "two\na letter came through\n"
// exit: 2
// path: length: len > 2
// path: in[0] > '/'
// path: in[0] >= ':'
// path: select: (in[1] & 32) != 0
// path: in[2] <= 1
// path: select: in[1] >= 'A'
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    int digit = in[0] >= '0' && in[0] <= '9' ? in[0] - '0' : -1;
    int weight = in[1] & 0x20 ? 2 : 5;
    int arm = in[2] > 1 ? in[0] : in[1];
    int both = digit < 0 ? weight : digit > 5 ? weight * 2 : weight * 3;
    printf("%s\n", both == 10 ? "ten" : both == 2 ? "two" : "more");
    printf("%s\n", arm < 'A' ? "a digit came through" : "a letter came through");
    return weight;
}
