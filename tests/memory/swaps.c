// Places that are swapped: the input says which.
// seed: "\0\x01\x02\x03\x04\x05"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[6], a[8] = {7, 3, 0, 1, 6, 2, 5, 4};
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 6) != 6)
        return 0;
    for (int i = 0; i < 6; i += 2) {
        unsigned x = in[i] & 7, y = in[i + 1] & 7;
        unsigned char t = a[x];
        a[x] = a[y];
        a[y] = t;
    }
    if (goal == 0 && a[0] == 0 && a[1] == 1 && a[2] == 2)
        abort();
    if (goal == 1 && a[7] == 7 && a[a[1]] == 5 && a[0] == 6)
        abort();
    return 0;
}
