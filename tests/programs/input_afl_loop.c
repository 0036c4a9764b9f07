// AFL's persistent loop and deferred start; without AFL's macros there is one round.
// run
// input: "loop"
// stdout: "an l\n"
// exit: 0
// path: length: len <= 7
// path: len > 0
// path: in[0] == 'l'
// must: in[0] == 'l'
// other: "poop"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef __AFL_LOOP
static int round_;
#define __AFL_LOOP(n) (round_++ < 1)
#define __AFL_INIT() ((void)0)
#endif

int main(void) {
    char in[8];
    __AFL_INIT();
    while (__AFL_LOOP(100)) {
        memset(in, 0, sizeof in);
        long n = read(0, in, sizeof in);
        if (n > 0 && in[0] == 'l')
            puts("an l");
        else
            puts("no l");
        fflush(stdout);
    }
    return 0;
}
