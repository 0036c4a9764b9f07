// Values that meet at joins and in loops: some accumulators have labels, others do not.
// opt: all
// run
// input: "3-1+"
// stdout: "two left\n"
// exit: 0
// path: length: len <= 7
// path: len > 0
// path: in[0] != '-'
// path: in[0] != '+'
// path: len > 1
// path: in[1] == '-'
// path: len > 2
// path: in[2] != '-'
// path: in[2] != '+'
// path: len > 3
// path: in[3] != '-'
// path: in[3] == '+'
// path: len <= 4
// path: select: ((int8_t)in[2] - '0') * -1 + ((int8_t)in[0] - '0') * 1 == 2
// other: "3-2+"
// same: "4-2+"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[8];
    long n = read(0, in, sizeof in);
    int total = 0, sign = 1, last = 0;
    for (long i = 0; i < n; i++) {
        int next;
        if (in[i] == '-') {
            sign = -sign;
            next = last;
        } else if (in[i] == '+') {
            sign = 1;
            next = 0;
        } else {
            next = in[i] - '0';
            total += sign * next;
        }
        last = next;
    }
    puts(total == 2 ? "two left" : "not two");
    return last;
}
