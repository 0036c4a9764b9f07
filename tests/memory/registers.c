// A machine with registers: the instructions name them.
// seed: "\x01\x05\x02\x06\x01\x02\x03\x04"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[8];
    unsigned r[4] = {0};
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 8) != 8)
        return 0;
    r[in[0] & 3] = in[1];
    r[in[2] & 3] += in[3] * 2;
    r[in[4] & 3] ^= r[in[5] & 3];
    r[in[6] & 3] -= r[in[7] & 3];
    if (goal == 0 && r[0] == 0x1234 - 0x1100 + 7)
        abort();
    if (goal == 1 && r[3] == 100 && r[1] == 50 && r[2] == 0)
        abort();
    return 0;
}
