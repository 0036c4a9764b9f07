// Three streams in one container: an argument, an environment variable and standard input.
// run
// arg: "x"
// env: "PLEACH_TEST_ADD=2"
// input: "1f"
// stdout: "thirty-three\n"
// exit: 0
// path: select: in[23] == 'x'
// path: length: len(2) > 0
// path: in[57] <= '`'
// path: in[57] - '0' >= 0
// path: (uint32_t)(in[57] - '0') < 16
// path: length: len(2) > 1
// path: in[58] > '`'
// path: in[58] - 'W' >= 0
// path: (uint32_t)(in[58] - 'W') < 16
// path: length: len(2) <= 2
// path: select: in[58] - 'W' + (in[57] - '0') * 16 - 48 + (int8_t)in[48] == 33
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    int base = argv[1][0] == 'x' ? 16 : 10, n = 0, c;
    while ((c = getchar()) != EOF) {
        int d = c >= 'a' ? c - 'a' + 10 : c - '0';
        if (d < 0 || d >= base)
            return puts("bad digit"), 1;
        n = n * base + d;
    }
    const char *add = getenv("PLEACH_TEST_ADD");
    if (add)
        n += add[0] - '0';
    puts(n == 33 ? "thirty-three" : "other");
    return 0;
}
