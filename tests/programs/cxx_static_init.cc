// Globals with constructors, which run before main, and a local static that is initialised on first use.
// opt: all
// run
// input: "k"
// stdout: "eleven squared\ntwelve\nhello, world\ngone\n"
// exit: 0
// path: length: len > 0
// path: select: _ZL7squares[in[0] & 15] == 121
// path: select: (in[0] & 15) == 11
// other: "q"
#include <cstdio>
#include <string>

static int squares[16];
struct Fill {
    Fill() {
        for (int i = 0; i < 16; i++)
            squares[i] = i * i;
    }
    ~Fill() { std::puts("gone"); }
} fill;
static const std::string greeting = std::string("hello, ") + "world";

static int &counter(int start) {
    static int n = start;
    return n;
}

int main() {
    int c = std::getchar() & 15;
    std::puts(squares[c] == 121 ? "eleven squared" : "other");
    counter(c)++;
    std::puts(counter(0) == 12 ? "twelve" : "other");
    std::puts(greeting.c_str());
    return 0;
}
