// goto * on a table of labels, of distances between labels, and in an interpreter.
// seed: "\x00\x00\x00\x00\x00\x00\x00\x00"
// goals: 5
#include <stdlib.h>
#include <unistd.h>

static int direct(unsigned n) {
    static void *const table[] = { &&zero, &&one, &&two, &&three };
    goto *table[n % 4];
zero:
    return 10;
one:
    return 11;
two:
    return 12;
three:
    return 13;
}

static int relative(unsigned n) {
    static const int table[] = { &&zero - &&zero, &&one - &&zero, &&two - &&zero };
    goto *(&&zero + table[n % 3]);
zero:
    return 20;
one:
    return 21;
two:
    return 22;
}

static int interpret(const unsigned char *code) {
    static void *const table[] = { &&halt, &&add, &&twice, &&minus };
    int sum = 0;
    goto *table[*code++ & 3];
add:
    sum += 5;
    goto *table[*code++ & 3];
twice:
    sum *= 2;
    goto *table[*code++ & 3];
minus:
    sum -= 1;
    goto *table[*code++ & 3];
halt:
    return sum;
}

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[8];
    if (read(0, in, 8) != 8)
        return 0;
    in[7] = 0;
    if (goal == 0 && direct(in[0]) == 12)
        abort();
    if (goal == 1 && relative(in[0]) == 22)
        abort();
    if (goal == 2 && interpret(in) == 9)
        abort();
    if (goal == 3 && interpret(in) == -2)
        abort();
    if (goal == 4 && direct(in[1]) + relative(in[2]) == 34)
        abort();
    return 0;
}
