// Records name their strings by an offset in a table of strings, as in ELF; strcmp and strlen.
// seed: "\x01\x05\x09\0one\0two\0three\0"
// goals: 3
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[18];
    if (read(0, in, 18) != 18 || in[17] != 0)
        return 0;
    const char *table = (const char *)in + 3;
    if (in[0] > 14 || in[1] > 14 || in[2] > 14)
        return 0;
    if (goal == 0 && strcmp(table + in[0], "three") == 0)
        abort();
    if (goal == 1 && strlen(table + in[1]) == 9)
        abort();
    if (goal == 2 && memcmp(table + in[2], "text", 4) == 0)
        abort();
    return 0;
}
