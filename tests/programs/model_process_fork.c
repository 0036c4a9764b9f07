// A forked child decides on the input: its decisions are not in the parent's trace.
// run
// input: "xy"
// stdout: "child saw x\nparent saw y\n"
// exit: 0
// path: length: len > 1
// path: select: in[1] == 'y'
// losses: another-process
// must: in[1] == 'y'
// free: 0
// other: "xz"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    pid_t child = fork();
    if (child < 0)
        return 3;
    if (child == 0) {
        for (int i = 0; i < 1000; i++)
            if (in[0] + i == 'q')
                break;
        puts(in[0] == 'x' ? "child saw x" : "child saw x too");
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    puts(in[1] == 'y' ? "parent saw y" : "parent saw another");
    return 0;
}
