// A frame with its CRC-16 at the end: the CRC over all of it is zero.
// seed: "\x7e" "ABCDEFGHIJ.."
// goals: 2
#include <stdlib.h>
#include <unistd.h>

static unsigned short crc(const unsigned char *p, int n) {
    unsigned short c = 0xffff;
    while (n--) {
        c ^= *p++ << 8;
        for (int k = 0; k < 8; k++)
            c = (c << 1) ^ (0x1021 & -(c >> 15));
    }
    return c;
}

int main(int argc, char **argv) {
    unsigned char in[13];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 13) != 13 || in[0] != 0x7e || crc(in + 1, 12) != 0)
        return 1;
    if (goal == 0 && in[1] == 3 && in[2] == 0x80 && in[10] == 9)
        abort();
    if (goal == 1 && (in[3] | in[4] << 8) * 3 == 3 * 4660)
        abort();
    return 0;
}
