// The remainder of a negative number is negative: a read outside the array that it belongs to.
// seed: "\xfb\xff\xff\xff\xff"
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int before[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static int a[10] = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
static int after[10] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[5];
    int x;
    if (read(0, in, 5) != 5)
        return 0;
    memcpy(&x, in, 4);
    before[in[4] & 1] += 1;
    after[in[4] & 1] += 1;
    a[in[4] & 1] += 1;
    int got = a[x % 10];
    if (goal == 0 && got == 13)
        abort();
    if (goal == 1 && got == 7 && in[4] == 1 && x % 10 == 1)
        abort();
    return 0;
}
