// Virtual calls on objects that the input chooses: in an array, in a vector of pointers, with
// two bases, and through a pointer to a member.
// seed: "abcdefgh"
// goals: 6
#include <cstdlib>
#include <memory>
#include <unistd.h>
#include <vector>

struct Shape {
    virtual ~Shape() {}
    virtual int area(int n) const { return n; }
};
struct Square : Shape {
    int area(int n) const override { return n * n; }
};
struct Circle : Shape {
    int area(int n) const override { return 3 * n * n; }
};
struct Hidden : Shape {
    int area(int n) const override { return n == 4 ? 99 : 0; }
};

struct Named {
    virtual ~Named() {}
    virtual int length() const { return 1; }
};
struct Label : Shape, Named {
    int length() const override { return 7; }
};
struct Title : Label {
    int length() const override { return 11; }
};

struct Machine {
    int state = 0;
    void start() { state = 1; }
    void stop() { state = 2; }
    void reset() { state = 3; }
};

static Shape shape;
static Square square;
static Circle circle;
static Hidden hidden;

int main(int argc, char **argv) {
    int goal = argc > 1 ? std::atoi(argv[1]) : 0;
    unsigned char in[8];
    if (read(0, in, 8) != 8)
        return 0;
    static Shape *const table[] = {&shape, &square, &circle, &hidden};
    int area = table[in[0] % 4]->area(in[1] & 7);
    if (goal == 0 && area == 99)
        std::abort();
    if (goal == 1 && area == 75)
        std::abort();
    std::vector<std::unique_ptr<Shape>> all;
    all.push_back(std::make_unique<Square>());
    all.push_back(std::make_unique<Hidden>());
    all.push_back(std::make_unique<Circle>());
    if (goal == 2 && all[in[2] % 3]->area(4) == 99)
        std::abort();
    Named plain;
    Label label;
    Title title;
    Named *names[] = {&plain, &label, &title};
    if (goal == 3 && names[in[3] % 3]->length() == 11)
        std::abort();
    static void (Machine::*const steps[])() = {&Machine::start, &Machine::stop, &Machine::reset};
    Machine machine;
    (machine.*steps[in[4] % 3])();
    if (goal == 4 && machine.state == 3)
        std::abort();
    Shape *chosen = in[5] == 'x' ? static_cast<Shape *>(&hidden) : &circle;
    if (goal == 5 && chosen->area(4) == 99)
        std::abort();
    return 0;
}
