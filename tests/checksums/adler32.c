// zlib: the Adler-32 of the text is behind it.
// seed: "x\x01\x01\x0a\x00\xf5\xffplain text\x15\xb4\x03\xfa......"
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned adler(const unsigned char *p, unsigned n) {
    unsigned a = 1, b = 0;
    for (unsigned i = 0; i < n; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

int main(int argc, char **argv) {
    unsigned char in[64];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    long n = read(0, in, sizeof in);
    if (n < 12 || in[0] != 0x78 || (in[0] * 256 + in[1]) % 31 != 0 || in[2] != 1)
        return 1;
    unsigned length = in[3] | in[4] << 8;
    const unsigned char *text = in + 7, *end = text + length;
    if (length != ((in[5] | in[6] << 8) ^ 0xffff) || length + 11 > n)
        return 2;
    if (adler(text, length) != ((unsigned)end[0] << 24 | end[1] << 16 | end[2] << 8 | end[3]))
        return 3;
    if (goal == 0 && length >= 5 && !memcmp(text, "hello", 5))
        abort();
    if (goal == 1 && length == 12 && text[11] == '!')
        abort();
    return 0;
}
