// The handler itself reads labelled memory and branches on it.
// run
// input: "GO"
// stdout: "go\n"
// exit: 0
// path: length: len > 1
// path: in[0] == 'G'
// path: select: in[1] == 'O'
// must: in[0] == 'G'
// other: "GX"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static char in[2];
static volatile sig_atomic_t verdict;

static void judge(int sig) {
    (void)sig;
    verdict = in[1] == 'O' ? 1 : 2;
}

int main(void) {
    struct sigaction sa = {.sa_handler = judge};
    sigaction(SIGUSR2, &sa, NULL);
    if (read(0, in, 2) != 2)
        return 2;
    if (in[0] == 'G')
        kill(getpid(), SIGUSR2);
    puts(verdict == 1 ? "go" : verdict == 2 ? "no go" : "not asked");
    return 0;
}
