// A substitution that the input defines, and text that it is applied to.
// seed: "abcdefgh\0\x01\x02\x03"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[12];
    int map[8];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 12) != 12)
        return 0;
    for (int i = 0; i < 8; i++)
        map[i] = in[i] * 3 + i;
    int a = map[in[8] & 7], b = map[in[9] & 7], c = map[in[10] & 7];
    if (goal == 0 && a == 303 && b == 6 + 3 * 40)
        abort();
    if (goal == 1 && a > b && b > c && a - c == 2 && in[8] == in[10] + 2)
        abort();
    return 0;
}
