// A switch that only selects a value: the optimiser turns it into a table that is read at a symbolic index.
// opt: all
// run
// input: "3\n"
// stdout: "three\nfive letters\n"
// exit: 0
// path: length: len > 0
// path: switch: in[0] == '3'
// path: switch: in[0] == '3'
// other: "4\n"
// run
// input: "9\n"
// stdout: ""
// exit: 1
// path: length: len > 0
// path: switch: in[0] != '0' && in[0] != '1' && in[0] != '2' && in[0] != '3' && …
#include <stdio.h>

static const char *name(int n) {
    switch (n) {
    case 0: return "zero";
    case 1: return "one";
    case 2: return "two";
    case 3: return "three";
    case 4: return "four";
    case 5: return "five";
    case 6: return "six";
    }
    return NULL;
}

static int letters(int n) {
    switch (n) {
    case 0: return 4;
    case 1: return 3;
    case 2: return 3;
    case 3: return 5;
    case 4: return 4;
    case 5: return 4;
    case 6: return 3;
    default: return 0;
    }
}

int main(void) {
    int n = getchar() - '0';
    int len = letters(n);
    if (len == 0)
        return 1;
    printf("%s\n", name(n));
    puts(len == 5 ? "five letters" : "fewer");
    return 0;
}
