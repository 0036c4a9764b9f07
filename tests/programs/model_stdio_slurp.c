// The usual way to read a whole file: its size by fseek and ftell, then one fread of that size.
// run
// input: "GIF89a.."
// args: @@
// stdout: "a picture of 8 bytes\n"
// exit: 0
// path: len >= 6
// path: pin: len == 8
// path: check: len <= 8
// path: len == len
// path: in[0] == 'G' && in[1] == 'I' && in[2] == 'F' && in[3] == '8' && in[4] == '9' && in[5] == 'a'
// must: in[0] == 'G'
// other: "GIF8xa.."
// other: "GI"
// losses: pinned
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!f || fseek(f, 0, SEEK_END))
        return 1;
    long size = ftell(f);
    if (size < 6)
        return puts("too short"), 2;
    rewind(f);
    char *all = malloc((size_t)size);
    if (!all || fread(all, 1, (size_t)size, f) != (size_t)size)
        return 3;
    if (memcmp(all, "GIF89a", 6) == 0)
        printf("a picture of %ld bytes\n", size);
    else
        puts("something else");
    free(all);
    fclose(f);
    return 0;
}
