// Handlers by type: in a constant table, in records, registered on the heap, and stored at
// places that the input gives.
// seed: "abcdefgh"
// goals: 6
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int handler(const unsigned char *);

static int ignore(const unsigned char *p) { return p[0] == 0 ? 0 : 1; }
static int sum(const unsigned char *p) { return p[0] + p[1]; }
static int product(const unsigned char *p) { return p[0] * p[1]; }
static int magic(const unsigned char *p) { return p[0] == 0xca && p[1] == 0xfe ? 1000 : 2; }
static int seven(const unsigned char *p) { return p[1] == 7 ? 777 : 3; }

static handler *const table[] = { ignore, sum, product, magic, seven };

struct type {
    char name[4];
    handler *run;
};

static const struct type types[] = {
    { "IHDR", ignore }, { "PLTE", sum }, { "IDAT", product }, { "IEND", magic },
};

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[8];
    if (read(0, in, 8) != 8)
        return 0;
    if (goal == 0 && in[0] < 5 && table[in[0]](in + 1) == 777)
        abort();
    if (goal == 1 && table[in[0] % 5](in + 1) == 1000)
        abort();
    if (goal == 2) {
        for (int i = 0; i < 4; i++)
            if (memcmp(in, types[i].name, 4) == 0 && types[i].run(in + 4) == 1000)
                abort();
    }
    if (goal == 3 && types[in[0] & 3].run(in + 1) == 1000 && in[7] == 'q')
        abort();
    handler **registered = malloc(5 * sizeof *registered);
    if (!registered)
        return 0;
    for (int i = 0; i < 5; i++)
        registered[i] = table[4 - i];
    if (goal == 4 && registered[in[0] % 5](in + 1) == 777)
        abort();
    handler *slots[4] = { ignore, ignore, ignore, ignore };
    slots[in[0] & 3] = magic;
    if (goal == 5 && slots[in[3] & 3](in + 4) == 1000)
        abort();
    return 0;
}
