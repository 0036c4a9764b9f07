// A struct of a float and an int in one register pair; the integer keeps its label.
// run
// input: "\x2a\x00\x00\x00"
// stdout: "forty-three\nthree\n"
// exit: 0
// path: length: len > 3
// path: select: (((((uint64_t)in[0] << 32 | 0x3fc00000) & 0xff00000000) + 0x100000000 | float_bits(as_float((uint32_t)((uint64_t)in[0] << 32 | 0x3fc00000)) * …
// path: select: as_float((uint32_t)((((uint64_t)in[0] << 32 | 0x3fc00000) & 0xff00000000) + 0x100000000 | float_bits(as_float((uint32_t)((uint64_t)in[0] << 32…
// other: "\x2b\x00\x00\x00"
#include <stdio.h>
#include <unistd.h>

struct sample { float weight; int id; double sum; };

__attribute__((noinline)) static struct sample make(int id) {
    return (struct sample){1.5f, id, id * 0.5};
}

struct tiny { float f; int id; };
__attribute__((noinline)) static struct tiny shrink(struct sample s) {
    return (struct tiny){s.weight * 2, s.id + 1};
}

int main(void) {
    int id;
    if (read(0, &id, 4) != 4)
        return 2;
    struct tiny t = shrink(make(id & 255));
    puts(t.id == 43 ? "forty-three" : "other");
    puts(t.f == 3.0f ? "three" : "impossible");
    return 0;
}
