/* The reasons of reasons.c in C++: in methods, templates, inlined functions, loops, and in
   functions whose calls have landing pads. */
#include <cstdlib>
#include <unistd.h>

extern "C" int strange(int x); // 0 to 30, and never x
extern "C" void leave(void);   // ends the program

volatile int sink;

/* Calls while one of these is alive are `invoke` instructions. */
struct Guard {
    int value = 0;
    ~Guard() { sink = value; }
};

struct Shape {
    virtual ~Shape() {}
    virtual int area(int v) = 0;
};

struct Square : Shape {
    int area(int v) override {
        if (v * v == 50) return 1; /* true: refuted no input takes it */
        return v;
    }
};

struct Round : Shape {
    int area(int v) override {
        if (v == 3) return 9; /* true: unreached nothing calls Round::area by its name */
        return 3 * v;
    }
};

template <class T> static inline bool between(T v, T low, T high) { return v >= low && v <= high; }

static inline int inlined(unsigned char c) {
    if (c > 100 && c * 3 < 200) return 1; /* true: refuted */
    if (c > 200) return 2;
    return 3;
}

static int depth(const unsigned char *in, int n) {
    int depth = 0;
    for (int i = 0; i < n; i++) {
        if (in[i] == '(') depth++;
    }
    if (depth > 100) return 100; /* true: refuted no input takes it */
    return depth;
}

static int kind(unsigned char c) {
    int base = c & 3;
    switch (base) { /* case 7: refuted no input takes it */
    case 0: return 5;
    case 1: return 6;
    case 7: return 9;
    default: return 10;
    }
}

int main(int argc, char **argv) {
    unsigned char in[16];
    (void)argv;
    if (read(0, in, 16) != 16) return 1;
    Guard guard;
    Square square;
    Shape *shape = &square;
    if (argc > 50) shape = new Round; /* true: concrete way that the run took */
    int result = shape->area(in[0]) + inlined(in[1]) + depth(in + 2, 3) + kind(in[5]);
    if (between<int>(in[6], 200, 300)) result++;
    if (strange(in[7]) == 77) result++; /* true: lost result of strange, which has no model */
    switch (strange(in[8])) { /* case 50: lost result of strange, which has no model */
    case 50: result = 2; break;
    default: break;
    }
    if (in[9] == strange(in[9])) result++; /* true: missed the runs took another way */
    if (in[10] == 'L') {
        leave();
        if (in[11] == 'z') result++; /* true: unreached a call did not return */
    }
    return result & 1;
}
