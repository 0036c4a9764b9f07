// The table directory of TrueType: a tag, and the offset of the table.
// seed: "\0\x01\0\0\0\x02\0\0\0\0\0\0headAAAA\0\0\0,\0\0\0\x08maxpBBBB\0\0\0\x30\0\0\0\x08................"
// goals: 3
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char font[64];

static uint32_t be16(const unsigned char *p) { return p[0] << 8 | p[1]; }
static uint32_t be32(const unsigned char *p) { return be16(p) << 16 | be16(p + 2); }

static const unsigned char *table(const char *tag) {
    unsigned n = be16(font + 4);
    if (n > 2)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        const unsigned char *record = font + 12 + 16 * i;
        if (memcmp(record, tag, 4) == 0) {
            uint32_t offset = be32(record + 8);
            return offset <= sizeof font - 8 ? font + offset : 0;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, font, sizeof font) < 60 || be32(font) != 0x10000)
        return 0;
    const unsigned char *head = table("head"), *maxp = table("maxp");
    if (!head || !maxp)
        return 0;
    if (goal == 0 && be16(head) == 0x5f0f)
        abort();
    if (goal == 1 && be32(maxp) == 0x00005000 && be16(head) == 0x1234)
        abort();
    // The tables overlap, which no seed shows.
    if (goal == 2 && head < maxp && head + 4 > maxp && be16(maxp) == be16(head) + 1)
        abort();
    return 0;
}
