// Exceptions with destructors on the way out; the catch clause is chosen by the input.
// opt: all
// run
// input: "n5"
// stdout: "+try +parse -parse -try five\n"
// exit: 1
// path: length: len > 0
// path: length: len > 1
// path: in[0] == 'n'
// path: select: in[1] == '5'
// other: "s5"
// run
// input: "sx"
// stdout: "+try +parse -parse -try bad\n"
// exit: 2
// path: length: len > 0
// path: length: len > 1
// path: in[0] != 'n'
// path: in[0] == 's'
// run
// input: "ok"
// stdout: "+try +parse -parse no throw\n-try "
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: in[0] != 'n'
// path: in[0] != 's'
#include <cstdio>
#include <stdexcept>

struct Guard {
    const char *name;
    explicit Guard(const char *n) : name(n) { std::printf("+%s ", name); }
    ~Guard() { std::printf("-%s ", name); }
};

static int parse(int a, int b) {
    Guard g("parse");
    if (a == 'n')
        throw b - '0';
    if (a == 's')
        throw std::runtime_error("bad");
    return b;
}

int main() {
    int a = std::getchar(), b = std::getchar();
    try {
        Guard g("try");
        parse(a, b);
        std::puts("no throw");
    } catch (int n) {
        std::puts(n == 5 ? "five" : "int");
        return 1;
    } catch (const std::exception &e) {
        std::puts(e.what());
        return 2;
    }
    return 0;
}
