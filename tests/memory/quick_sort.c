// qsort, insertion sort and selection sort of the input, and conditions on the results.
// seed: "dbca"
// goals: 3
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare(const void *a, const void *b) {
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[4], out[4];
    if (read(0, in, 4) != 4)
        return 0;
    memcpy(out, in, 4);
    if (goal == 0) {
        qsort(out, 4, 1, compare);
        if (out[1] == 17 && out[2] == 18)
            abort();
    } else if (goal == 1) {
        for (int i = 1; i < 4; i++) {
            unsigned char value = out[i];
            int j = i;
            for (; j > 0 && out[j - 1] > value; j--)
                out[j] = out[j - 1];
            out[j] = value;
        }
        if (memcmp(out, "abcz", 4) == 0 && in[0] == 'z')
            abort();
    } else {
        for (int i = 0; i < 3; i++) {
            int least = i;
            for (int j = i + 1; j < 4; j++)
                least = out[j] < out[least] ? j : least;
            unsigned char other = out[i];
            out[i] = out[least];
            out[least] = other;
        }
        if (out[0] == 1 && out[3] == 99)
            abort();
    }
    return 0;
}
