// Thread-local variables contain only labels of their own thread.
// flags: -O2 -pthread
// run
// input: "ab"
// stdout: "fresh and not a\nmain kept a\n"
// exit: 0
// path: length: len > 1
// path: select: in[1] != 'a'
// path: select: in[0] == 'a'
// other: "aa"
// same: "ac"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static _Thread_local int mine = 1;
static char in[2];

static void *work(void *unused) {
    (void)unused;
    int before = mine;
    mine = in[1];
    return before == 1 && mine != 'a' ? in : NULL;
}

int main(void) {
    pthread_t t;
    void *result;
    if (read(0, in, 2) != 2)
        return 2;
    mine = in[0];
    if (pthread_create(&t, NULL, work, NULL))
        return 3;
    pthread_join(t, &result);
    puts(result ? "fresh and not a" : "otherwise");
    puts(mine == 'a' ? "main kept a" : "main kept other");
    return 0;
}
