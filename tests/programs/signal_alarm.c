// A timer interrupts labelled code at any moment; the decisions of the code must stay the same.
// run
// input: "tick tock tick tock"
// stdout: "three\n"
// exit: 0
// path: length: len <= 31
// path: len > 0
// path: len > 1
// path: len > 2
// path: len > 3
// path: len > 4
// path: len > 5
// path: len > 6
// path: len > 7
// path: len > 8
// path: len > 9
// path: len > 10
// path: len > 11
// path: len > 12
// path: len > 13
// path: len > 14
// path: len > 15
// path: len > 16
// path: len > 17
// path: len > 18
// path: len <= 19
// path: len > 1
// path: len > 2
// path: len > 3
// path: …
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static void on_alarm(int sig) { ticks += sig == SIGALRM; }

int main(void) {
    char in[32];
    unsigned h = 7;
    struct itimerval soon = {{0, 500}, {0, 500}};
    struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &sa, NULL);
    long n = read(0, in, sizeof in);
    setitimer(ITIMER_REAL, &soon, NULL);
    // A fixed amount of labelled work while the timer runs, so that the trace is always the same.
    for (int round = 0; round < 400; round++)
        for (long i = 0; i < n; i++)
            h = h * 33 + (unsigned char)in[i];
    while (ticks < 3)
        pause();
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    puts(h % 4 == 3 ? "three" : h % 2 ? "odd" : "even");
    return 0;
}
