// Records on the heap that are chosen, changed and compared by index; realloc keeps them.
// seed: "abcdefgh"
// goals: 3
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct record {
    uint16_t kind;
    uint8_t flags;
    uint32_t value;
};

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[8];
    if (read(0, in, 8) != 8)
        return 0;
    struct record *all = calloc(4, sizeof *all);
    if (!all)
        return 0;
    for (int i = 0; i < 4; i++) {
        all[in[i] & 3].value += in[i + 4];
        all[in[i] & 3].kind = in[i];
    }
    struct record *more = realloc(all, 8 * sizeof *all);
    if (!more)
        return 0;
    if (goal == 0 && more[2].value == 300)
        abort();
    if (goal == 1 && more[in[7] & 3].kind == 0x42)
        abort();
    more[4 + (in[0] & 3)] = more[in[1] & 3];
    if (goal == 2 && more[6].value == 111)
        abort();
    return 0;
}
