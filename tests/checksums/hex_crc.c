// A line of text behind its CRC-32 in hexadecimal digits.
// seed: "00000000 some text"
// goals: 2
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned crc(const char *p, unsigned n) {
    unsigned c = 0xffffffff;
    while (n--) {
        c ^= (unsigned char)*p++;
        for (int k = 0; k < 8; k++)
            c = (c >> 1) ^ (0xedb88320u & -(c & 1));
    }
    return ~c;
}

int main(int argc, char **argv) {
    char line[64];
    unsigned wanted;
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    size_t n = fread(line, 1, sizeof line - 1, stdin);
    line[n] = 0;
    if (n < 14 || line[8] != ' ' || sscanf(line, "%8x", &wanted) != 1)
        return 1;
    if (crc(line + 9, n - 9) != wanted)
        return 2;
    if (goal == 0 && !memcmp(line + 9, "hello", 5))
        abort();
    if (goal == 1 && line[9] == '#' && line[10] == '!')
        abort();
    return 0;
}
