// A thread gets a labelled value by pointer, decides on it, and returns a labelled result.
// flags: -O2 -pthread
// run
// input: "M"
// stdout: "changed or given\n156\n"
// exit: 0
// path: length: len > 0
// path: in[0] == 'M'
// must: in[0] == 'M'
// other: "N"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static void *work(void *arg) {
    int *cell = arg;
    if (*cell == 'M')
        *cell += 1;
    return (void *)(intptr_t)(*cell * 2);
}

int main(void) {
    int cell = getchar();
    pthread_t t;
    void *result;
    // One thread at a time: the order of the events is fixed.
    if (pthread_create(&t, NULL, work, &cell))
        return 2;
    pthread_join(t, &result);
    puts(cell == 'N' ? "changed or given" : "neither");
    printf("%ld\n", (long)(intptr_t)result);
    return 0;
}
