// Pseudorandom numbers whose seed is input.
// seed: "abcdefgh"
// goals: 5
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[8];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 8) != 8)
        return 0;
    unsigned seed = in[0];
    srand(in[0]);
    if (goal == 0 && rand() % 100 == 42)
        abort();
    if (goal == 1 && rand() > 0 && rand() % 200 == 17)
        abort();
    srandom(in[1] | 256);
    if (goal == 2 && random() % 200 == 23)
        abort();
    if (goal == 3 && rand_r(&seed) % 100 == 42 && rand_r(&seed) % 2 == 1)
        abort();
    srand48(in[2]);
    if (goal == 4 && lrand48() % 200 == 77 && mrand48() < 0)
        abort();
    return 0;
}
