// A shift-reduce parser by tables, as bison writes them, for E: E '+' T | T, T: 'n' | '(' E ')'.
// opt: all
// run
// input: "n+(n+n)"
// stdout: "accepted, 8 reductions\n"
// exit: 0
// path: length: len <= 23
// path: len > 0
// path: (int8_t)main.token[in[0]] >= 0
// path: check: main.token[in[0]] <= 49
// path: action[main.token[in[0]]] != 99
// path: action[main.token[in[0]]] != 0
// path: (int8_t)action[main.token[in[0]]] > 0
// path: len > 1
// path: (int8_t)main.token[in[1]] >= 0
// path: check: action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x… <= 49
// path: action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…] != 99
// path: action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…] != 0
// path: (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…] <= 0
// path: check: (uint64_t)(0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]) <= 4
// path: check: (uint64_t)(1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]]) <= 63
// path: action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…] <= 253
// path: check: table_…[1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]]] <= 9
// path: check: (uint64_t)(1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1) <= 63
// path: len > 1
// path: (int8_t)main.token[in[1]] >= 0
// path: check: (uint64_t)(1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1) <= 63
// path: check: table_…[1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1] * 5 + 0x… + main.token[in[1]] - 0x… …
// path: action[table_…[1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1] * 5 + 0x… + main.token[in[1]] - 0x…]…
// path: action[table_…[1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1] * 5 + 0x… + main.token[in[1]] - 0x…]…
// path: …
// other: "n+(n+n("
// run
// input: "n+"
// stdout: "error at 2\n"
// exit: 1
// path: length: len <= 23
// path: len > 0
// path: (int8_t)main.token[in[0]] >= 0
// path: check: main.token[in[0]] <= 49
// path: action[main.token[in[0]]] != 99
// path: action[main.token[in[0]]] != 0
// path: (int8_t)action[main.token[in[0]]] > 0
// path: len > 1
// path: (int8_t)main.token[in[1]] >= 0
// path: check: action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x… <= 49
// path: action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…] != 99
// path: action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…] != 0
// path: (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…] <= 0
// path: check: (uint64_t)(0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]) <= 4
// path: check: (uint64_t)(1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]]) <= 63
// path: action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…] <= 253
// path: check: table_…[1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]]] <= 9
// path: check: (uint64_t)(1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1) <= 63
// path: len > 1
// path: (int8_t)main.token[in[1]] >= 0
// path: check: (uint64_t)(1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1) <= 63
// path: check: table_…[1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1] * 5 + 0x… + main.token[in[1]] - 0x… …
// path: action[table_…[1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1] * 5 + 0x… + main.token[in[1]] - 0x…]…
// path: action[table_…[1 - length[0 - (int8_t)action[action[main.token[in[0]]] * 5 + 0x… + main.token[in[1]] - 0x…]] + 1] * 5 + 0x… + main.token[in[1]] - 0x…]…
// path: …
#include <stdio.h>
#include <unistd.h>

enum { PLUS, NUM, OPEN, CLOSE, END, TOKENS };
// Positive: shift to; negative: reduce by; 99: accept; 0: error.
static const signed char action[10][TOKENS] = {
    {0, 3, 4, 0, 0},      {5, 0, 0, 0, 99},     {-2, 0, 0, -2, -2},   {-3, 0, 0, -3, -3},
    {0, 3, 4, 0, 0},      {0, 3, 4, 0, 0},      {5, 0, 0, 8, 0},      {-1, 0, 0, -1, -1},
    {-4, 0, 0, -4, -4},   {0, 0, 0, 0, 0},
};
static const unsigned char go_e[10] = {1, 0, 0, 0, 6}, go_t[10] = {2, 0, 0, 0, 2, 7};
static const unsigned char length[5] = {0, 3, 1, 1, 3}, is_e[5] = {0, 1, 1, 0, 0};

int main(void) {
    static signed char token[256];
    for (int i = 0; i < 256; i++)
        token[i] = -1;
    token['+'] = PLUS, token['n'] = NUM, token['('] = OPEN, token[')'] = CLOSE;
    unsigned char in[25], stack[64] = {0};
    long n = read(0, in, 24), at = 0;
    int sp = 0, reductions = 0;
    for (;;) {
        int t = at < n ? token[in[at]] : END;
        int a = t < 0 ? 0 : action[stack[sp]][t];
        if (a == 99)
            return printf("accepted, %d reductions\n", reductions), 0;
        if (a == 0)
            return printf("error at %ld\n", at), 1;
        if (a > 0) {
            stack[++sp] = (unsigned char)a;
            at++;
        } else {
            sp -= length[-a];
            int top = stack[sp];
            stack[++sp] = is_e[-a] ? go_e[top] : go_t[top];
            reductions++;
        }
    }
}
