// Fallthrough, default in the middle, and a switch inside a loop that continues and breaks.
// opt: all
// run
// input: "aXbc.zz"
// stdout: "1125\n"
// exit: 0
// path: length: len <= 15
// path: len > 0
// path: switch: in[0] == 'a'
// path: len > 1
// path: switch: in[1] != 'a' && in[1] != 'b' && in[1] != 'c' && in[1] != '.'
// path: len > 2
// path: switch: in[2] == 'b'
// path: len > 3
// path: switch: in[3] == 'c'
// path: len > 4
// path: switch: in[4] == '.'
// path: len + 1 >= len
// same: "aYbc.zz"
// other: "aXcc.zz"
// free: 5 6
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[16];
    long n = read(0, in, sizeof in);
    int score = 0;
    for (long i = 0; i < n; i++) {
        switch (in[i]) {
        case 'a':
            score += 1;
            // fall through
        case 'b':
            score += 10;
            break;
        default:
            score += 100;
            continue;
        case 'c':
            score += 1000;
            break;
        case '.':
            i = n;
        }
        score++;
    }
    printf("%d\n", score);
    return 0;
}
