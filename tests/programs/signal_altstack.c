// A fault is caught on an alternate stack, and siglongjmp leaves the handler.
// run
// input: "N"
// stdout: "caught\n"
// exit: 0
// path: length: len > 0
// path: in[0] == 'N'
// other: "Y"
// run
// input: "Y"
// stdout: "value 1\n"
// exit: 0
// path: length: len > 0
// path: in[0] != 'N'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sigjmp_buf back;
static void on_fault(int sig) { siglongjmp(back, sig); }

int main(void) {
    stack_t alt = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaltstack(&alt, NULL);
    sigaction(SIGSEGV, &sa, NULL);
    char c = 0;
    if (read(0, &c, 1) != 1)
        return 2;
    static int fine = 1;
    int *volatile p = &fine;
    if (c == 'N')
        p = NULL;
    if (sigsetjmp(back, 1) == 0)
        printf("value %d\n", *(volatile int *)p);
    else
        puts("caught");
    return 0;
}
