// A thread parses the input; it gets it in memory, as its argument, and through a pipe.
// seed: "abcdefgh"
// goals: 5
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int goal;
static char in[8];
static int ends[2];

static void *parse(void *memory) {
    char *text = memory;
    if (goal == 0 && strncmp(text, "thread", 6) == 0)
        abort();
    return NULL;
}

static void *by_value(void *value) {
    intptr_t n = (intptr_t)value;
    if (goal == 1 && n == 'v')
        abort();
    return (void *)(n + 1);
}

static void *through_pipe(void *unused) {
    char back[4];
    (void)unused;
    if (read(ends[0], back, 4) != 4)
        return NULL;
    if (goal == 3 && memcmp(back, "pipe", 4) == 0)
        abort();
    in[0] = back[3] ^ 1;
    return NULL;
}

int main(int argc, char **argv) {
    goal = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t thread;
    void *result;
    if (read(0, in, 8) != 8 || pipe(ends) != 0)
        return 0;
    if (pthread_create(&thread, NULL, parse, in) != 0)
        return 0;
    pthread_join(thread, NULL);
    if (pthread_create(&thread, NULL, by_value, (void *)(intptr_t)in[1]) != 0)
        return 0;
    pthread_join(thread, &result);
    if (goal == 2 && (intptr_t)result == 'r')
        abort();
    if (pthread_create(&thread, NULL, through_pipe, NULL) != 0)
        return 0;
    if (write(ends[1], in + 2, 4) != 4)
        return 0;
    pthread_join(thread, NULL);
    if (goal == 4 && in[0] == '4')
        abort();
    return 0;
}
