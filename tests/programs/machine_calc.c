// A calculator with precedence and parentheses over single digits; division can fail.
// opt: all
// run
// input: "2+3*(4-1)"
// stdout: "eleven\n"
// exit: 0
// path: length: len > 0
// path: in[0] > '/'
// path: in[0] < ':'
// path: length: len > 1
// path: in[1] != '*'
// path: in[1] != '/'
// path: in[1] == '+'
// path: length: len > 2
// path: in[2] > '/'
// path: in[2] < ':'
// path: length: len > 3
// path: in[3] == '*'
// path: length: len > 4
// path: in[4] <= '/'
// path: in[4] == '('
// path: length: len > 5
// path: in[5] > '/'
// path: in[5] < ':'
// path: length: len > 6
// path: in[6] != '*'
// path: in[6] != '/'
// path: in[6] != '+'
// path: in[6] == '-'
// path: length: len > 7
// path: …
// other: "2+3*(4/1)"
// run
// input: "7/(3-3)"
// stdout: "division by zero\n"
// exit: 1
// path: length: len > 0
// path: in[0] > '/'
// path: in[0] < ':'
// path: length: len > 1
// path: in[1] != '*'
// path: in[1] == '/'
// path: length: len > 2
// path: in[2] <= '/'
// path: in[2] == '('
// path: length: len > 3
// path: in[3] > '/'
// path: in[3] < ':'
// path: length: len > 4
// path: in[4] != '*'
// path: in[4] != '/'
// path: in[4] != '+'
// path: in[4] == '-'
// path: length: len > 5
// path: in[5] > '/'
// path: in[5] < ':'
// path: length: len > 6
// path: in[6] != '*'
// path: in[6] != '/'
// path: in[6] != '+'
// path: …
#include <stdio.h>
#include <stdlib.h>

static int look;
static void next(void) { look = getchar(); }
static void fail(const char *why) {
    puts(why);
    exit(1);
}
static int sum(int depth);
static int atom(int depth) {
    int v;
    if (look >= '0' && look <= '9') {
        v = look - '0';
    } else {
        if (look != '(' || depth > 8)
            fail("expected a digit");
        next();
        v = sum(depth + 1);
        if (look != ')')
            fail("expected )");
    }
    next();
    return v;
}
static int product(int depth) {
    int v = atom(depth);
    while (look == '*' || look == '/') {
        int op = look;
        next();
        int w = atom(depth);
        if (op == '/' && w == 0)
            fail("division by zero");
        v = op == '*' ? (int)((unsigned)v * (unsigned)w) : v / w;
    }
    return v;
}
static int sum(int depth) {
    int v = product(depth);
    while (look == '+' || look == '-') {
        int op = look;
        next();
        unsigned w = (unsigned)product(depth);
        v = (int)(op == '+' ? (unsigned)v + w : (unsigned)v - w);
    }
    return v;
}

int main(void) {
    next();
    int v = sum(0);
    if (look != EOF)
        fail("junk");
    puts(v == 11 ? "eleven" : "other");
    return 0;
}
