// A record whose bytes, the last of which is the checksum, add up to zero.
// seed: "\x05\x10\0\0abcde......."
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[16];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 16) != 16 || in[0] > 10)
        return 1;
    unsigned char sum = 0;
    for (int i = 0; i < in[0] + 5; i++)
        sum += in[i];
    if (sum != 0)
        return 2;
    if (goal == 0 && in[3] == 4 && in[0] == 2)
        abort();
    if (goal == 1 && !memcmp(in + 4, "Start", 5))
        abort();
    return 0;
}
