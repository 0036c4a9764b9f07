// Two modules: labels pass through calls between separately compiled files, in both directions.
// with: parts/check.c
// opt: all
// run
// input: "K9"
// stdout: "a K\nand a nine\n"
// exit: 0
// path: length: len > 1
// path: (int8_t)in[0] > '@'
// path: select: (((uint64_t)((uint32_t)(int8_t)in[1] << 1 | 1) << 32 | (uint64_t)(int8_t)in[0] & 0xffffffff) & 0xffffffff) == 75
// path: select: (((uint64_t)((uint32_t)(int8_t)in[1] << 1 | 1) << 32 | (uint64_t)(int8_t)in[0] & 0xffffffff) & 0xffffffff00000000) == 0x7300000000
// must: in[0] == 'K'
// other: "K8"
#include <stdio.h>
#include <unistd.h>

struct pair { int a, b; };
struct pair classify(const char *text, int (*score)(int));

static int score(int c) { return c * 2 + 1; }

int main(void) {
    char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    struct pair p = classify(in, score);
    puts(p.a == 'K' ? "a K" : "no K");
    puts(p.b == 115 ? "and a nine" : "and no nine");
    return 0;
}
