// An inline function is in two objects and inlined in both. The linker keeps one
// copy of its counters and sites, and both objects must use it.
// with: parts/shared_inline.cc
// run
// input: "A"
// stdout: "3 4\n"
// exit: 0
// path: length: len > 0
// path: in[0] == 'A'
// path: in[0] == 'A'
// must: in[0] == 'A'
// other: "B"
#include <cstdio>

inline int shared(int c) {
    if (c == 'A')
        return 3;
    return c == 'B' ? 9 : 0;
}

int elsewhere(int c);

int main() {
    int c = std::getchar();
    std::printf("%d %d\n", shared(c), elsewhere(c));
    return 0;
}
