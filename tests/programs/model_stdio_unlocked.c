// getc_unlocked and similar functions, inlined by the headers or called: the buffer carries the labels.
// flags: -O2 -D_GNU_SOURCE
// run
// input: "abc"
// stdout: "a b c end\n"
// exit: 0
// path: length: len > 0
// path: length: len > 2
// path: select: in[0] == 'a'
// path: select: in[1] == 'b'
// path: select: in[2] == 'c'
// path: length: len <= 3
// must: in[0] == 'a'
// must: in[2] == 'c'
// other: "abd"
// other: "ab"
#include <stdio.h>

int main(void) {
    int (*volatile through_pointer)(FILE *) = fgetc_unlocked;
    int a = getc_unlocked(stdin), b = getchar_unlocked(), c = through_pointer(stdin);
    printf("%s", a == 'a' ? "a " : "- ");
    printf("%s", b == 'b' ? "b " : "- ");
    printf("%s", c == 'c' ? "c " : "- ");
    puts(fgetc_unlocked(stdin) == EOF ? "end" : "more");
    return 0;
}
