// Move-to-front coding: an array that is permuted by each byte.
// seed: "\x01\x02\x03\x04"
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[4], order[8], out[4];
    if (read(0, in, 4) != 4)
        return 0;
    for (int i = 0; i < 8; i++)
        order[i] = 'a' + i;
    for (int i = 0; i < 4; i++) {
        unsigned at = in[i] & 7;
        unsigned char c = order[at];
        for (unsigned j = at; j > 0; j--)
            order[j] = order[j - 1];
        order[0] = c;
        out[i] = c;
    }
    if (goal == 0 && out[0] == 'f' && out[1] == 'c')
        abort();
    if (goal == 1 && memcmp(out, "fee", 3) == 0)
        abort();
    return 0;
}
