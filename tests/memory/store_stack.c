// A store at an index from the input into a stack object, and reads of it.
// seed: "\x01\x02\x03\x04\x05\x06"
// goals: 3
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[6];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 6) != 6)
        return 0;
    int table[16] = {0};
    unsigned x = in[0], y = in[1], z = in[2];
    if (x >= 16 || z >= 16)
        return 0;
    table[x] = y;
    if (goal == 0 && table[z] == 33)
        abort();
    table[in[3] & 15] += in[4];
    // A constant index sees the stores, too.
    if (goal == 1 && table[7] == 77)
        abort();
    if (goal == 2 && table[z] == 400 && table[x] == 400 && table[2] == 0)
        abort();
    return 0;
}
