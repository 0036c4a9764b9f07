// Sets that are joined: parents are found by index.
// seed: "\0\x01\x02\x03\x04\x05"
// goals: 1
#include <stdlib.h>
#include <unistd.h>

static unsigned char parent[6] = {0, 1, 2, 3, 4, 5};

static unsigned find(unsigned x) {
    for (int steps = 0; steps < 3; steps++)
        x = parent[x];
    return x;
}

int main(void) {
    unsigned char in[6];
    if (read(0, in, 6) != 6)
        return 0;
    for (int i = 0; i < 6; i++)
        if (in[i] >= 6)
            return 0;
    for (int i = 0; i < 6; i += 2)
        parent[find(in[i])] = find(in[i + 1]);
    if (find(0) == find(3) && find(0) == find(5) && find(1) == 1 && find(0) == 5)
        abort();
    return 0;
}
