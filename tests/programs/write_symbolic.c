// A write at a symbolic index is pinned to its concrete index: the program counts letters.
// opt: all
// run
// input: "abca"
// stdout: "a 2\n"
// exit: 0
// path: length: len > 0
// path: pin: in[0] * 4 == 388
// path: length: len > 1
// path: pin: in[1] * 4 == 392
// path: length: len > 2
// path: pin: in[2] * 4 == 396
// path: length: len > 3
// path: pin: in[3] * 4 == 388
// path: length: len <= 4
// path: (int)(table_…[in[0]] + 2) > 0
// path: (int)(table_…[in[0]] + 2) >= 1
// path: (int)(table_…[in[0]] + 2) >= 1
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: (int)(table_…[in[0]] + 2) >= 0
// path: …
// other: "abcb"
#include <stdio.h>

int main(void) {
    int count[256] = {0};
    for (int c, i = 0; i < 16 && (c = getchar()) != EOF; i++)
        count[c]++;
    int most = 0;
    for (int i = 0; i < 256; i++)
        if (count[i] > count[most])
            most = i;
    printf("%c %d\n", most, count[most]);
    return 0;
}
