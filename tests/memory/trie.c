// A trie whose nodes are numbers in an array: built from one word, asked for another.
// seed: "abcabd"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

static int child[64][4], ends[64], nodes = 1;

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[6];
    if (read(0, in, 6) != 6)
        return 0;
    int at = 0;
    for (int i = 0; i < 3; i++) {
        int c = in[i] & 3;
        if (child[at][c] == 0)
            child[at][c] = nodes++;
        at = child[at][c];
    }
    ends[at] = 7;
    at = 0;
    for (int i = 3; i < 6; i++) {
        at = child[at][in[i] & 3];
        if (at == 0)
            return 0;
    }
    if (goal == 0 && ends[at] == 7)
        abort();
    if (goal == 1 && ends[at] == 7 && in[0] == 'x' && in[4] == 'y')
        abort();
    return 0;
}
