// PNG: each chunk ends with its CRC-32, computed by zlib.
// seed: "\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x07\x00\x00\x00\x09\x08\x02\x00\x00\x00q:\xa1\xf4\x00\x00\x00\x0dtEXtComment\x00hello\xe6\xff\xae$\x00\x00\x00\x09bKGDA picture\xf3 t:\x00\x00\x00\x00IEND\xaeB`\x82"
// goals: 3
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static unsigned big(const unsigned char *p) {
    return (unsigned)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

int main(int argc, char **argv) {
    static unsigned char in[512];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    long n = read(0, in, sizeof in);
    unsigned at = 8, width = 0, depth = 0, keys = 0;
    if (n < 8 || memcmp(in, "\x89PNG\r\n\x1a\n", 8))
        return 1;
    while (at + 12 <= n) {
        unsigned length = big(in + at);
        const unsigned char *type = in + at + 4, *data = type + 4;
        if (length > n - at - 12)
            return 2;
        if (crc32(crc32(0, NULL, 0), type, length + 4) != big(data + length))
            return 3;
        if (at == 8) {
            if (memcmp(type, "IHDR", 4) || length != 13)
                return 4;
            width = big(data);
            depth = data[8];
            if (width == 0)
                return 5;
        } else if (!memcmp(type, "tEXt", 4)) {
            if (length > 8 && data[0] == 'K' && data[7] == 0)
                keys++;
        } else if (!memcmp(type, "IEND", 4)) {
            if (goal == 0 && width == 1234 && depth == 16)
                abort();
            if (goal == 1 && keys == 2)
                abort();
        } else if (!memcmp(type, "tIME", 4) && goal == 2 && keys == 1) {
            abort();
        }
        at += 12 + length;
    }
    return 0;
}
