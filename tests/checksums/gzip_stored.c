// gzip: the CRC-32 of the text and its length are behind it.
// seed: "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\x01\x0a\x00\xf5\xffplain text\xb8\x0f\x0bD\x0a\x00\x00\x00...."
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned crc(const unsigned char *p, unsigned n) {
    unsigned c = 0xffffffff;
    while (n--) {
        c ^= *p++;
        for (int k = 0; k < 8; k++)
            c = (c >> 1) ^ (0xedb88320u & -(c & 1));
    }
    return ~c;
}

static unsigned little(const unsigned char *p) {
    return (unsigned)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
}

int main(int argc, char **argv) {
    static unsigned char in[256];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    long n = read(0, in, sizeof in);
    if (n < 23 || in[0] != 0x1f || in[1] != 0x8b || in[2] != 8 || in[3] != 0)
        return 1;
    // One block that is stored.
    unsigned length = in[11] | in[12] << 8;
    const unsigned char *text = in + 15;
    if (in[10] != 1 || length != ((in[13] | in[14] << 8) ^ 0xffff) || length + 23 > n)
        return 2;
    if (crc(text, length) != little(text + length) || little(text + length + 4) != length)
        return 3;
    if (goal == 0 && length >= 6 && !memcmp(text, "secret", 6))
        abort();
    if (goal == 1 && length == 9 && text[8] == 'z' && text[0] == 'a')
        abort();
    return 0;
}
