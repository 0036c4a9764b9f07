// A producer and a consumer with a mutex and a condition variable: labelled bytes pass between threads in order.
// flags: -O2 -pthread
// run
// input: "ab.cd"
// stdout: "1\n"
// exit: 0
// diverges: threads
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int slot, full;

static void *produce(void *unused) {
    (void)unused;
    int c;
    do {
        c = getchar();
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&change, &lock);
        slot = c;
        full = 1;
        pthread_cond_broadcast(&change);
        pthread_mutex_unlock(&lock);
    } while (c != EOF);
    return NULL;
}

int main(void) {
    pthread_t t;
    int sentences = 0, c;
    if (pthread_create(&t, NULL, produce, NULL))
        return 2;
    do {
        pthread_mutex_lock(&lock);
        while (!full)
            pthread_cond_wait(&change, &lock);
        c = slot;
        full = 0;
        pthread_cond_broadcast(&change);
        pthread_mutex_unlock(&lock);
        if (c == '.')
            sentences++;
    } while (c != EOF);
    pthread_join(t, NULL);
    printf("%d\n", sentences);
    return 0;
}
