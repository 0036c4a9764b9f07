// A hash table with open addressing: the slots depend on the keys.
// seed: "abc\x01\x02\x03xy"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

#define SLOTS 8
static unsigned char keys[SLOTS], values[SLOTS];

static unsigned slot(unsigned char key) {
    unsigned i = (key * 5 + 3) % SLOTS;
    for (int probes = 0; probes < SLOTS && keys[i] && keys[i] != key; probes++)
        i = (i + 1) % SLOTS;
    return i;
}

int main(int argc, char **argv) {
    unsigned char in[8];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 8) != 8)
        return 0;
    for (int i = 0; i < 3; i++) {
        if (!in[i])
            return 0;
        unsigned s = slot(in[i]);
        keys[s] = in[i];
        values[s] = in[3 + i];
    }
    unsigned x = slot(in[6]), y = slot(in[7]);
    if (goal == 0 && keys[x] == in[6] && values[x] == 200)
        abort();
    if (goal == 1 && x != y && keys[x] && keys[y] && values[x] == 17 && values[y] == values[x] + 1)
        abort();
    return 0;
}
