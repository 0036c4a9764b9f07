// A list whose links are indices.
// seed: "\x01\x02\x03\x04\x05\x06\x07\0"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char next[8];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, next, 8) != 8)
        return 0;
    for (int i = 0; i < 8; i++)
        if (next[i] >= 8)
            return 0;
    int at = 0, steps = 0;
    for (; steps < 4; steps++)
        at = next[at];
    if (goal == 0 && at == 6)
        abort();
    if (goal == 1 && at == 0 && next[0] == 5 && next[5] == 3)
        abort();
    return 0;
}
