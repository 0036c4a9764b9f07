// The end of a ZIP archive has the offset of the directory, which has those of the files.
// seed: "PK\x03\x04........PK\x01\x02\0\0\0\0....PK\x05\x06\x0c\0\0\0"
// goals: 2
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t le32(const unsigned char *p) {
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char *file = malloc(32);
    if (!file || read(0, file, 32) != 32)
        return 0;
    if (memcmp(file + 24, "PK\5\6", 4) != 0)
        return 0;
    uint32_t directory = le32(file + 28);
    if (directory > 20)
        return 0;
    if (le32(file + directory) != 0x02014b50)
        return 0;
    uint32_t local = le32(file + directory + 4);
    if (local > 24)
        return 0;
    if (le32(file + local) != 0x04034b50)
        return 0;
    if (goal == 0 && file[local + 4] == 99)
        abort();
    if (goal == 1 && directory == 4 && local == 16)
        abort();
    return 0;
}
