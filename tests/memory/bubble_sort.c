// The input, sorted, and a condition on the result.
// seed: "qwertz"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char a[6];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, a, 6) != 6)
        return 0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j + 1 < 6 - i; j++)
            if (a[j] > a[j + 1]) {
                unsigned char t = a[j];
                a[j] = a[j + 1];
                a[j + 1] = t;
            }
    if (goal == 0 && a[0] == 'b' && a[2] == 'm' && a[5] == 'y')
        abort();
    // The element at an index that is itself an element.
    if (goal == 1 && a[0] < 6 && a[a[0]] == 'k' && a[0] != 0)
        abort();
    return 0;
}
