// A sentence of NMEA 0183: the exclusive or of its characters, in hexadecimal digits.
// seed: "$GPGGA,12*00\n"
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int digit(unsigned char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int main(int argc, char **argv) {
    unsigned char in[14] = {0};
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 13) != 13 || in[0] != '$')
        return 1;
    unsigned char sum = 0;
    int i = 1;
    for (; i < 11 && in[i] != '*'; i++)
        sum ^= in[i];
    int high = digit(in[i + 1]), low = digit(in[i + 2]);
    if (in[i] != '*' || high < 0 || low < 0 || sum != high * 16 + low)
        return 2;
    if (goal == 0 && !memcmp(in + 1, "GPRMC", 5))
        abort();
    if (goal == 1 && in[7] == '9' && in[8] == '7')
        abort();
    return 0;
}
