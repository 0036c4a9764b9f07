// Two threads parse the input at the same time.
// seed: "abcdef"
// goals: 2
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned char in[6];
static int found[2];

static void *work(void *p) {
    long k = (long)p;
    for (int i = 0; i < 3; i++)
        if (in[3 * k + i] == "key"[i])
            found[k]++;
    return NULL;
}

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t threads[2];
    if (read(0, in, 6) != 6)
        return 0;
    for (long k = 0; k < 2; k++)
        if (pthread_create(&threads[k], NULL, work, (void *)k) != 0)
            return 0;
    for (int k = 0; k < 2; k++)
        pthread_join(threads[k], NULL);
    if (goal == 0 && found[0] == 3)
        abort();
    if (goal == 1 && found[0] == 1 && found[1] == 2)
        abort();
    return 0;
}
