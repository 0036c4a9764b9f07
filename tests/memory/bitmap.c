// A bitmap with bits at places that the input gives.
// seed: "abcdefgh"
// goals: 3
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t bits[8];

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[4];
    if (read(0, in, 4) != 4)
        return 0;
    for (int i = 0; i < 3; i++)
        bits[in[i] / 32] |= 1u << in[i] % 32;
    if (goal == 0 && bits[7] >> 13 & 1)
        abort();
    if (goal == 1 && bits[in[3] / 32] == 6)
        abort();
    if (goal == 2 && bits[0] == 0x80000001)
        abort();
    return 0;
}
