// Loops that end by exit, and nested breaks and continues with labelled bounds.
// opt: all
// run
// input: "\x03\x04"
// stdout: "11\n"
// exit: 0
// path: length: len > 1
// path: (in[1] & 7) != 0
// path: (in[0] & 3) + 1 >= 0
// path: (in[1] & 7) > 1
// path: (in[1] & 7) > 2
// path: (in[1] & 7) > 3
// path: (in[1] & 7) <= 4
// path: (in[0] & 3) > 0
// path: (in[0] & 3) + 1 >= 1
// path: (in[1] & 7) > 1
// path: (in[1] & 7) > 2
// path: (in[1] & 7) > 3
// path: (in[1] & 7) <= 4
// path: (in[0] & 3) > 1
// path: (in[1] & 7) > 1
// path: (in[0] & 3) + 1 >= 2
// path: (in[1] & 7) > 2
// path: (in[1] & 7) > 3
// path: (in[1] & 7) <= 4
// path: (in[0] & 3) > 2
// path: (in[0] & 3) + 1 >= 3
// path: (in[1] & 7) > 1
// path: (in[1] & 7) > 2
// path: (in[1] & 7) > 3
// path: …
// other: "\x03\x05"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    unsigned char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    int work = 0;
    for (int i = 0;; i++) {
        for (int j = 0; j < (in[1] & 7); j++) {
            if ((i + j) % 3 == 2)
                continue;
            if (i > (in[0] & 3) + 1)
                break;
            work++;
        }
        if (i >= (in[0] & 3)) {
            printf("%d\n", work);
            exit(work == 11 ? 0 : 1);
        }
    }
}
