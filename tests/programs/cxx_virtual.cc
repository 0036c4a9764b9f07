// Virtual calls through a base pointer, on objects whose class depends on the input.
// opt: all
// run
// input: "sc\x04\x03"
// stdout: "second larger\n"
// exit: 0
// path: length: len > 0
// path: in[0] == 's'
// path: length: len > 1
// path: in[1] != 's'
// path: length: len > 2
// path: length: len > 3
// path: select: (in[2] & 15) * (in[2] & 15) < (in[3] & 15) * 355 * (in[3] & 15) / 113
// same: "sc\x05\x03"
// other: "ss\x04\x03"
#include <cstdio>
#include <memory>

struct Shape {
    virtual ~Shape() = default;
    virtual int area(int n) const = 0;
};
struct Square : Shape {
    int area(int n) const override { return n * n; }
};
struct Circle : Shape {
    int area(int n) const override { return n * n * 355 / 113; }
};

static std::unique_ptr<Shape> make(int c) {
    if (c == 's')
        return std::make_unique<Square>();
    return std::make_unique<Circle>();
}

int main() {
    auto a = make(std::getchar()), b = make(std::getchar());
    int m = std::getchar() & 15, n = std::getchar() & 15;
    std::puts(a->area(m) < b->area(n) ? "second larger" : "first larger");
    return 0;
}
