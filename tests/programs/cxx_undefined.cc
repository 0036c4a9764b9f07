// Null references and objects: at -O0 the program can detect them, and so can the symbolic half.
// flags: -O0 -w
// run
// input: "\x01\x02"
// stdout: "no object\nno reference\n"
// exit: 0
// path: length: len > 1
// path: in[0] == 1
// path: in[1] == 2
// run
// input: "ab"
// stdout: ""
// exit: 0
// path: length: len > 1
// path: in[0] != 1
// path: in[1] != 2
#include <cstdio>
#include <unistd.h>

struct Cell {
    int value;
    int get() { return this ? value : -1; }
};

static int read_cell(int &r) { return &r ? 1 : -1; }

int main() {
    unsigned char in[2];
    Cell cell = {3};
    int other = 4;
    if (read(0, in, sizeof in) != sizeof in)
        return 2;
    Cell *c = in[0] == 1 ? nullptr : &cell;
    if (c->get() < 0)
        puts("no object");
    int *p = in[1] == 2 ? nullptr : &other;
    if (read_cell(*p) < 0)
        puts("no reference");
    return 0;
}
