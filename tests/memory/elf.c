// ELF: the section headers are at an offset, and their names in one of the sections.
// seed: "\x7fELF\x08\x01\x02\0\x18\0\0\0\x04\0\0\0\x20\0\0\0\x08\0\0\0.text\0.d.bss\0...."
// goals: 2
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct header { char magic[4]; uint8_t shoff, shstrndx; uint16_t shnum; };
struct section { uint16_t name, type; uint32_t offset; };

static union { unsigned char bytes[64]; struct header header; } file;

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, file.bytes, sizeof file) < 40 || memcmp(file.header.magic, "\x7f" "ELF", 4) != 0)
        return 0;
    struct header *h = &file.header;
    if (h->shnum != 2 || h->shstrndx >= 2 || h->shoff > 40 || h->shoff % 4 != 0)
        return 0;
    struct section *sections = (struct section *)(file.bytes + h->shoff);
    uint32_t strings = sections[h->shstrndx].offset;
    if (strings > 44)
        return 0;
    uint32_t name = strings + sections[0].name;
    if (name > 56)
        return 0;
    const unsigned char *text = file.bytes + name;
    if (goal == 0 && text[0] == '.' && text[1] == 'x' && text[2] == 'y' && text[3] == 0)
        abort();
    if (goal == 1 && h->shstrndx == 0 && sections[0].type == 0x7a7a && text[0] == 'k')
        abort();
    return 0;
}
