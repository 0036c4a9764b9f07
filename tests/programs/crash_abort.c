// A failed assertion on the input: the run ends by SIGABRT, and its trace is complete up to there.
// run
// input: "A!"
// stdout: "read\n"
// signal: 6
// path: length: len > 1
// path: in[0] == 'A'
// path: in[1] == '!'
// other: "A?"
// run
// input: "A?"
// stdout: "read\ndone\n"
// exit: 0
// path: length: len > 1
// path: in[0] == 'A'
// path: in[1] != '!'
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    puts("read");
    fflush(stdout);
    if (in[0] == 'A')
        assert(in[1] != '!');
    puts("done");
    return 0;
}
