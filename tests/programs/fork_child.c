// The program forks; the child's decisions must not change the parent's trace or exit status.
// run
// input: "pc"
// stdout: "child 7\np\n"
// exit: 0
// path: length: len > 1
// path: select: in[0] == 'p'
// losses: another-process
// must: in[0] == 'p'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    char in[2];
    int status;
    if (read(0, in, 2) != 2)
        return 2;
    pid_t child = fork();
    if (child < 0)
        return 3;
    // The child makes no decision on the input: its status is a copy.
    if (child == 0)
        _exit(7);
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    puts(in[0] == 'p' ? "p" : "not p");
    return 0;
}
