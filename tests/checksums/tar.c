// A header of tar: the sum of its bytes, in octal digits. The digits themselves count as spaces.
// seed: "readme.txt\0\0\0\0\0\x30\x30\x306440\0\x30\x30\x30\x30\x30\0\0\x30"
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct header { char name[16], mode[6], sum[7], type; };

int main(int argc, char **argv) {
    struct header h;
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, &h, sizeof h) != sizeof h)
        return 1;
    unsigned long wanted = strtoul(h.sum, NULL, 8), sum = 0;
    memset(h.sum, ' ', sizeof h.sum);
    for (unsigned i = 0; i < sizeof h; i++)
        sum += ((unsigned char *)&h)[i];
    if (sum != wanted)
        return 2;
    if (goal == 0 && h.type == 'L' && h.name[0] == '.')
        abort();
    if (goal == 1 && !memcmp(h.mode, "4755", 4))
        abort();
    return 0;
}
