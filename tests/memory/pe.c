// PE: the offset of the header is at a fixed place, and the header has all others.
// seed: "MZ\x08\0....PE\0\0\x4c\x01\x01\0\x0b\x01......................"
// goals: 2
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    unsigned char file[40] = {0};
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, file, sizeof file) < 32 || file[0] != 'M' || file[1] != 'Z')
        return 0;
    uint16_t at, machine, sections, magic;
    memcpy(&at, file + 2, 2);
    if (at > 24)
        return 0;
    uint32_t signature;
    memcpy(&signature, file + at, 4);
    if (signature != 0x4550)
        return 0;
    memcpy(&machine, file + at + 4, 2);
    memcpy(&sections, file + at + 6, 2);
    memcpy(&magic, file + at + 8, 2);
    if (goal == 0 && machine == 0x8664 && magic == 0x20b && sections == 3)
        abort();
    if (goal == 1 && at == 20 && machine == 0xaa64)
        abort();
    return 0;
}
