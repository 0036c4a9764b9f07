// An exception carries a value from the input; it is caught, changed and rethrown through several frames.
// opt: all
// run
// input: "c"
// stdout: "depth 4\nwas a c\n"
// exit: 0
// path: length: len > 0
// path: select: in[0] == 'c'
// must: in[0] == 'c'
// other: "d"
#include <cstdio>

struct Problem { int code; int depth; };

[[gnu::noinline]] static void fail(int c) { throw Problem{c, 0}; }

[[gnu::noinline]] static void level(int n, int c) {
    try {
        if (n == 0)
            fail(c);
        else
            level(n - 1, c);
    } catch (Problem &p) {
        p.depth++;
        p.code++;
        throw;
    }
}

int main() {
    try {
        level(3, std::getchar());
    } catch (const Problem &p) {
        std::printf("depth %d\n", p.depth);
        std::puts(p.code == 'g' ? "was a c" : "was not a c");
    }
    return 0;
}
