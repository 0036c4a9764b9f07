// A block that is copied from an offset in the input.
// seed: "\x04\0.............."
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[16], block[6];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 16) != 16 || in[0] > 10)
        return 0;
    memcpy(block, in + in[0], sizeof block);
    if (goal == 0 && block[0] == 'a' && block[5] == 'f')
        abort();
    if (goal == 1 && memcmp(block, "\x09pleac", 6) == 0)
        abort();
    return 0;
}
