// A table of functions indexed by the input: the index is pinned, or each target is a decision.
// opt: all
// run
// input: "+\x05\x03"
// stdout: "eight\n"
// exit: 0
// path: length: len > 2
// path: jump: op[in[0] & 7] == 0x…
// path: in[2] + in[1] == 8
// other: "-\x05\x03"
// run
// input: "?\x05\x03"
// stdout: "other\n"
// exit: 0
// path: length: len > 2
// path: jump: op[in[0] & 7] == 0x…
#include <stdio.h>
#include <unistd.h>

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int bad(int a, int b) { (void)a, (void)b; return -1; }

static int (*const op[8])(int, int) = {bad, bad, mul, add, bad, sub, bad, bad};

int main(void) {
    unsigned char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    int r = op[in[0] & 7](in[1], in[2]);
    puts(r == 8 ? "eight" : r == 2 ? "two" : "other");
    return 0;
}
