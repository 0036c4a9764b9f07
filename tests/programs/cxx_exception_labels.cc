// After an unwind, calls must not see the labels of the call that threw.
// opt: all
// run
// input: "xyz"
// stdout: "3 with a z\n"
// exit: 0
// path: length: len > 0
// path: in[0] > 'w'
// path: select: in[0] != 'z'
// path: length: len > 1
// path: in[1] > 'x'
// path: select: in[1] != 'z'
// path: length: len > 2
// path: in[2] > 'y'
// path: select: in[2] == 'z'
// other: "xyy"
#include <cstdio>

[[gnu::noinline]] static int maybe(int c, int limit) {
    if (c > limit)
        throw c;
    return c;
}
[[gnu::noinline]] static int plain(int a, int b) { return a > b ? 1 : 2; }

int main() {
    int sum = 0, caught = 0;
    for (int i = 0; i < 3; i++) {
        int c = std::getchar();
        try {
            sum += maybe(c, 'x' + i - 1);
        } catch (int n) {
            caught++;
            sum += plain(1, 2) + (n == 'z' ? 100 : 0);
        }
    }
    std::printf("%d %s\n", caught, sum > 100 ? "with a z" : "without");
    return 0;
}
