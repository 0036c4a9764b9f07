// An array of structures: fields of one, two, four and eight bytes.
// seed: "\x01........................................................."
// goals: 4
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct record { uint8_t kind; uint16_t flags; uint32_t size; uint64_t id; };

int main(int argc, char **argv) {
    unsigned char in[50] = {0};
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 49) < 49 || in[0] > 2)
        return 0;
    struct record *all = malloc(3 * sizeof *all);
    if (!all)
        return 0;
    memcpy(all, in + 1, 3 * sizeof *all);
    struct record *r = &all[in[0]];
    if (goal == 0 && r->kind == 9 && r->flags == 0x8001)
        abort();
    if (goal == 1 && r->size == 123456 && in[0] == 2)
        abort();
    if (goal == 2 && r->id == 0x1122334455667788)
        abort();
    // Of another record than in the seed.
    if (goal == 3 && r->kind == '.' && r->flags == 0x4242 && all[1].flags == 0x2e2e)
        abort();
    return 0;
}
