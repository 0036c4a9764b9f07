// Two values are swapped in each iteration of a loop: phis that read each other.
// opt: all
// run
// input: "ab3"
// stdout: "odd number of swaps\nfalling\n"
// exit: 0
// path: length: len > 2
// path: (in[2] & 1 | 2) > 0
// path: (in[2] & 1 | 2) > 1
// path: (in[2] & 1 | 2) > 2
// path: (in[2] & 1 | 2) <= 3
// path: select: in[1] == 'b'
// path: select: (int8_t)in[1] >= (int8_t)in[0]
// same: "ab5"
// other: "ab4"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    char a = in[0], b = in[1];
    for (int i = 0; i < (in[2] & 1) + 2; i++) {
        char t = a;
        a = b;
        b = t;
    }
    puts(a == 'b' ? "odd number of swaps" : "even number of swaps");
    puts(a < b ? "rising" : "falling");
    return 0;
}
