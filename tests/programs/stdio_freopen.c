// freopen and fdopen connect stdin to the input file, with and without buffering.
// run
// input: "ab"
// args: @@
// stdout: "a\nb\nb again\n"
// exit: 0
// path: length: len > 0
// path: select: in[0] == 'a'
// path: length: len > 1
// path: select: in[1] == 'b'
// path: select: in[1] == 'b'
// other: "ac"
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc < 2 || !freopen(argv[1], "r", stdin))
        return 2;
    setvbuf(stdin, NULL, _IONBF, 0);
    puts(getchar() == 'a' ? "a" : "not a");
    FILE *f = fdopen(open(argv[1], O_RDONLY), "r");
    if (!f)
        return 3;
    fgetc(f);
    puts(fgetc(f) == 'b' ? "b" : "not b");
    puts(getchar() == 'b' ? "b again" : "not b again");
    fclose(f);
    return 0;
}
