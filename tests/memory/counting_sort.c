// Counts by value, and what they say.
// seed: "abcdefgh"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[8];
    unsigned short count[16] = {0};
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 8) != 8)
        return 0;
    for (int i = 0; i < 8; i++)
        count[in[i] & 15]++;
    if (goal == 0 && count[3] == 3 && count[9] == 2)
        abort();
    if (goal == 1 && count[in[0] & 15] == 5 && count[in[7] & 15] == 3)
        abort();
    return 0;
}
