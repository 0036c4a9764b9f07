// A function compiled by plain clang overwrites labelled memory and returns a value: both are concrete.
// object: plain/upper.c
// run
// input: "ab?"
// stdout: "both changed\nA\nasked\n"
// exit: 0
// path: length: len > 2
// path: select: in[2] == '?'
// losses: unmodelled
// must: in[2] == '?'
// diverges: uninstrumented code
#include <stdio.h>
#include <unistd.h>

// In plain/upper.c, compiled by plain clang.
int upper_all(char *s, int n);

int main(void) {
    char in[3];
    if (read(0, in, 3) != 3)
        return 2;
    int changed = upper_all(in, 2);
    puts(changed == 2 ? "both changed" : "not both");
    puts(in[0] == 'A' ? "A" : "not A");
    puts(in[2] == '?' ? "asked" : "told");
    return 0;
}
