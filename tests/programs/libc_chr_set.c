// strchr and memchr search an input byte in a constant set: the optimiser makes a bit test or a switch of it.
// opt: all
// run
// input: "+x;"
// stdout: "operator\nplain\nstop\n"
// exit: 0
// path: length: len > 2
// path: in[0] != '\0'
// path: in[0] < '@' ? ((in[0] < '@' ? (uint64_t)1 << (in[0] < '@' ? in[0] : 0) : 0) & 0xac0000000001) != 0 : 0
// path: in[1] != '\0'
// path: !(in[1] < '@' ? ((in[1] < '@' ? (uint64_t)1 << (in[1] < '@' ? in[1] : 0) : 0) & 0xac0000000001) != 0 : 0)
// path: !(in[1] == ';' || in[1] == ',')
// path: in[2] != '\0'
// path: !(in[2] < '@' ? ((in[2] < '@' ? (uint64_t)1 << (in[2] < '@' ? in[2] : 0) : 0) & 0xac0000000001) != 0 : 0)
// path: in[2] == ';' || in[2] == ','
// same: "+y;"
// other: "+*;"
// run
// input: "a-,"
// stdout: "plain\noperator\nstop\n"
// exit: 0
// path: length: len > 2
// path: in[0] != '\0'
// path: !(in[0] < '@' ? ((in[0] < '@' ? (uint64_t)1 << (in[0] < '@' ? in[0] : 0) : 0) & 0xac0000000001) != 0 : 0)
// path: !(in[0] == ';' || in[0] == ',')
// path: in[1] != '\0'
// path: in[1] < '@' ? ((in[1] < '@' ? (uint64_t)1 << (in[1] < '@' ? in[1] : 0) : 0) & 0xac0000000001) != 0 : 0
// path: in[2] != '\0'
// path: !(in[2] < '@' ? ((in[2] < '@' ? (uint64_t)1 << (in[2] < '@' ? in[2] : 0) : 0) & 0xac0000000001) != 0 : 0)
// path: in[2] == ';' || in[2] == ','
// other: "a-."
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    for (int i = 0; i < 3; i++) {
        if (in[i] && strchr("+-*/", in[i]))
            puts("operator");
        else if (memchr(";,", in[i], 2))
            puts("stop");
        else
            puts("plain");
    }
    return 0;
}
