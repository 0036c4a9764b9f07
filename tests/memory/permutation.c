// The inverse of a permutation.
// seed: "\x03\x01\x04\x05\x02\0\x06\x07"
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[8];
    long inverse[8];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 8) != 8)
        return 0;
    memset(inverse, -1, sizeof inverse);
    for (int i = 0; i < 8; i++)
        inverse[in[i] & 7] = i;
    for (int i = 0; i < 8; i++)
        if (inverse[i] < 0)
            return 0;
    if (goal == 0 && inverse[0] == 7 && inverse[1] == 6 && inverse[2] == 0)
        abort();
    if (goal == 1 && inverse[inverse[5]] == 4 && inverse[5] == 2)
        abort();
    return 0;
}
