// Two records, each with its Fletcher-16; the second one covers the first.
// seed: "abcdefgh..ijkl.."
// goals: 3
#include <stdlib.h>
#include <unistd.h>

static unsigned fletcher(const unsigned char *p, int n) {
    unsigned a = 0, b = 0;
    while (n--) {
        a = (a + *p++) % 255;
        b = (b + a) % 255;
    }
    return b << 8 | a;
}

int main(int argc, char **argv) {
    unsigned char in[16];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 16) != 16)
        return 1;
    if (fletcher(in, 8) != (in[8] | in[9] << 8u))
        return 2;
    if (goal == 0 && in[0] == 'x' && in[7] == 'y')
        abort();
    if (fletcher(in, 14) != (in[14] | in[15] << 8u))
        return 3;
    if (goal == 1 && in[10] == 'Q')
        abort();
    if (goal == 2 && in[1] == 'R' && in[12] == 'S')
        abort();
    return 0;
}
