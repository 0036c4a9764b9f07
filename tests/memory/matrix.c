// Two indices, into a field of a structure.
// seed: "\0\x01\x02\x03\x04\x05"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

struct board { int turn; signed char cells[4][5]; int score; };

int main(int argc, char **argv) {
    unsigned char in[6];
    static struct board b;
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 6) != 6 || in[0] >= 4 || in[1] >= 5 || in[2] >= 4 || in[3] >= 5)
        return 0;
    b.cells[in[0]][in[1]] = in[4];
    b.cells[in[2]][in[3]] -= in[5];
    if (goal == 0 && b.cells[3][4] == -9 && b.cells[0][0] == 1)
        abort();
    if (goal == 1 && b.cells[2][in[1]] == 44 && in[1] == 3 && in[0] != 2)
        abort();
    return 0;
}
