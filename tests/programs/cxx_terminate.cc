// An exception that leaves a noexcept function ends the program by SIGABRT.
// run
// input: "T"
// stdout: "before\n"
// signal: 6
// path: length: len > 0
// path: in[0] == 'T'
// other: "t"
// run
// input: "t"
// stdout: "before\nt\n"
// exit: 0
// path: length: len > 0
// path: in[0] != 'T'
// path: select: in[0] == 't'
#include <cstdio>

static int check(int c) noexcept(false) {
    if (c == 'T')
        throw c;
    return c;
}
static int strict(int c) noexcept { return check(c) + 1; }

int main() {
    int c = std::getchar();
    std::puts("before");
    std::fflush(stdout);
    std::puts(strict(c) == 't' + 1 ? "t" : "other");
    return 0;
}
