// The same input is opened twice: both streams give the same bytes the same labels.
// run
// input: "xyz"
// args: @@
// stdout: "3\n"
// exit: 0
// path: length: len > 0
// path: in[0] == in[0]
// path: length: len > 1
// path: in[1] == in[1]
// path: length: len > 2
// path: in[2] == in[2]
// path: length: len <= 3
// same: "uvw"
// other: "xy"
#include <stdio.h>

int main(int argc, char **argv) {
    FILE *a = argc > 1 ? fopen(argv[1], "r") : NULL, *b = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!a || !b)
        return 2;
    int x, y, n = 0;
    do {
        x = fgetc(a);
        y = fgetc(b);
        if (x != y)
            return puts("impossible"), 1;
        n++;
    } while (x != EOF);
    printf("%d\n", n - 1);
    fclose(a);
    fclose(b);
    return 0;
}
