// An exception that passes through a frame of a function without instrumentation.
// object: plain/each.c
// run
// input: "ab!d"
// stdout: "stopped at 2\n"
// exit: 0
// path: length: len > 3
// path: in[0] != '!'
// path: in[1] != '!'
// path: in[2] == '!'
// must: in[2] == '!'
#include <cstdio>

extern "C" int each_byte(const char *bytes, int n, int (*f)(int byte, const char *where));

static int stop(int, const char *where) {
    if (*where == '!')
        throw where;
    return 1;
}

int main() {
    char in[4];
    if (std::fread(in, 1, 4, stdin) != 4)
        return 2;
    try {
        std::printf("%d\n", each_byte(in, 4, stop));
    } catch (const char *where) {
        std::printf("stopped at %d\n", static_cast<int>(where - in));
    }
    return 0;
}
