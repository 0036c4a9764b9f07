// All forms of operator new and delete: exceptions pass through, and labels end with their object.
// run
// input: "1x"
// stdout: "bad_alloc\nnull\naligned\naligned\none\nx\nfresh\n"
// exit: 0
// path: length: len > 1
// path: select: in[0] == '1'
// path: select: in[1] == 'x'
// must: in[0] == '1'
// must: in[1] == 'x'
// other: "2x"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <unistd.h>

struct alignas(64) Wide { char c[128]; };
static void *volatile keep;

int main() {
    char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    volatile std::size_t huge = SIZE_MAX / 4;
    try {
        keep = new char[huge];
        std::puts("got it");
    } catch (const std::bad_alloc &) {
        std::puts("bad_alloc");
    }
    keep = new (std::nothrow) char[huge];
    std::puts(keep ? "got it" : "null");
    Wide *one = new Wide;
    keep = one;
    std::puts((std::uintptr_t)keep % 64 ? "astray" : "aligned");
    delete one;
    Wide *three = new Wide[3];
    keep = three;
    std::puts((std::uintptr_t)keep % 64 ? "astray" : "aligned");
    delete[] three;
    int *number = new int(in[0]);
    keep = number;
    std::puts(*number == '1' ? "one" : "other");
    delete number;
    char *text = new char[24]{};
    keep = text;
    text[5] = in[1];
    std::puts(text[5] == 'x' ? "x" : "other");
    delete[] text;
    char *again = new char[24];
    keep = again;
    std::memset(again, 0, 24);
    std::puts(again[5] ? "stale" : "fresh");
    delete[] again;
    return 0;
}
