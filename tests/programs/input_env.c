// An environment variable as input: its value is labelled, its name is not.
// run
// env: "PLEACH_TEST_MODE=strict"
// stdout: "strict\n"
// exit: 0
// path: in[40] == 's' && in[41] == 't' && in[42] == 'r' && in[43] == 'i' && in[44] == 'c' && in[45] == 't'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    const char *mode = getenv("PLEACH_TEST_MODE");
    if (!mode)
        return puts("unset"), 1;
    if (strcmp(mode, "strict") == 0)
        puts("strict");
    else if (mode[0] == 's')
        puts("some s word");
    else
        puts("other");
    return 0;
}
