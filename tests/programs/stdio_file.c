// fopen of the file @@, fseek, ftell, rewind: offsets in the input stay correct.
// run
// input: "0123456789"
// args: @@
// stdout: "seven\nlast at 9\nnine\nzero\n"
// exit: 0
// path: length: len > 6
// path: length: len > 7
// path: select: in[7] == '7'
// path: pin: len == 10
// path: length: len > 9
// path: select: in[9] == '9'
// path: select: in[0] == '0'
// must: in[7] == '7'
// free: 2
// other: "0123456x89"
#include <stdio.h>

int main(int argc, char **argv) {
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!f)
        return 2;
    fseek(f, 7, SEEK_SET);
    puts(fgetc(f) == '7' ? "seven" : "other");
    fseek(f, -1, SEEK_END);
    printf("last at %ld\n", ftell(f));
    puts(fgetc(f) == '9' ? "nine" : "other");
    rewind(f);
    puts(fgetc(f) == '0' ? "zero" : "other");
    fclose(f);
    return 0;
}
