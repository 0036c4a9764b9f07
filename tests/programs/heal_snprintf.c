// snprintf overwrites a labelled buffer: the old labels must not appear in later decisions.
// run
// input: "abcdef"
// stdout: "one\ntwo\nf\n"
// exit: 0
// path: length: len > 5
// path: select: in[5] == 'f'
// losses: unmodelled
// free: 0 1
// must: in[5] == 'f'
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[7] = {0};
    if (read(0, in, 6) != 6)
        return 2;
    snprintf(in, 4, "%d!", 12);
    puts(in[0] == '1' ? "one" : "impossible");
    puts(in[1] == '2' ? "two" : "impossible");
    puts(in[5] == 'f' ? "f" : "not f");
    return 0;
}
