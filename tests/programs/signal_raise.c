// A handler that runs synchronously in the middle of labelled work must not change its labels.
// opt: all
// run
// input: "abQd"
// stdout: "signalled\neven\n"
// exit: 0
// path: length: len > 3
// path: in[0] != 'Q'
// path: in[1] != 'Q'
// path: in[2] == 'Q'
// path: in[3] != 'Q'
// path: select: ((uint32_t)((int8_t)in[3] + 3 + ((int8_t)in[2] + 2 + ((int8_t)in[1] + 1 + (int8_t)in[0]))) & 1) == 0
// other: "abcd"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static void on_usr1(int sig) { seen += sig == SIGUSR1; }

__attribute__((noinline)) static int check(char c, int k) {
    if (c == 'Q')
        raise(SIGUSR1);
    return c + k;
}

int main(void) {
    char in[4];
    int sum = 0;
    signal(SIGUSR1, on_usr1);
    if (read(0, in, 4) != 4)
        return 2;
    for (int i = 0; i < 4; i++)
        sum += check(in[i], i);
    puts(seen ? "signalled" : "quiet");
    puts(sum & 1 ? "odd" : "even");
    return 0;
}
