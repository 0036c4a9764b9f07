// The header of an IP packet: the sum of its words in ones' complement is all ones.
// seed: "E\0\0\x14\0\0\0\0@\x06\0\0\x7f\0\0\x01\x7f\0\0\x01"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[20];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 20) != 20 || in[0] != 0x45)
        return 1;
    unsigned sum = 0;
    for (int i = 0; i < 20; i += 2)
        sum += in[i] << 8 | in[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    if (sum != 0xffff)
        return 2;
    if (goal == 0 && in[9] == 17 && in[8] > 100)
        abort();
    if (goal == 1 && in[16] == 10 && in[19] == 99)
        abort();
    return 0;
}
