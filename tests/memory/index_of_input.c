// The content of the input at an offset that the input gives.
// seed: "\x01........."
// goals: 3
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char in[10];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, 10) != 10 || in[0] >= 10)
        return 0;
    if (goal == 0 && in[in[0]] == 'Q')
        abort();
    if (goal == 1 && in[in[in[0]] % 10] == 'R' && in[0] == 5)
        abort();
    if (goal == 2 && in[in[0]] == in[0] && in[0] != 0 && in[9] == 'x')
        abort();
    return 0;
}
