// An interpreter that calls a function for each operation, with a pointer to the next table.
// seed: "aaaaaaaa"
// goals: 3
#include <stdlib.h>
#include <unistd.h>

struct machine {
    const unsigned char *at;
    int value, steps;
};

typedef int operation(struct machine *);

static int op_stop(struct machine *m) { return m->value < 0; }
static int op_next(struct machine *m) { m->value += 3; return -1; }
static int op_load(struct machine *m) { m->value = *m->at++; return -1; }
static int op_twice(struct machine *m) { m->value *= 2; return -1; }
static int op_fail(struct machine *m) { return m->value == 6 ? 5 : 6; }

static operation *const plain[] = { op_stop, op_next, op_load, op_twice };
static operation *const special[] = { op_stop, op_fail, op_fail, op_stop };

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[9] = { 0 };
    if (read(0, in, 8) != 8)
        return 0;
    struct machine m = { in, 0, 0 };
    int out = -1;
    while (out < 0 && m.steps++ < 4 && m.at < in + 8) {
        unsigned char code = *m.at++;
        out = code & 0x80 ? special[code & 3](&m) : plain[code & 3](&m);
    }
    if (goal == 0 && out == 6)
        abort();
    if (goal == 1 && out == 5)
        abort();
    if (goal == 2 && out == 0 && m.value == 200)
        abort();
    return 0;
}
