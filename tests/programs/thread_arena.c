// Four threads make expressions at the same time: no two may get the same node (the oracle checks it).
// flags: -O2 -pthread
// run
// input: "0123456789abcdef0123456789abcdef"
// stdout: "pairs agree\n"
// exit: 0
// diverges: threads
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static unsigned char in[32];
static uint32_t hash[4];

static void *work(void *arg) {
    uint32_t *out = arg;
    const unsigned char *mine = in + (out - hash) * 8;
    uint32_t h = 2166136261u;
    for (int round = 0; round < 200; round++)
        for (int i = 0; i < 8; i++) {
            h = (h ^ mine[i]) * 16777619u;
            if ((h & 0x3ff) == 0x155)
                h++;
        }
    *out = h;
    return NULL;
}

int main(void) {
    pthread_t t[4];
    if (read(0, in, 32) != 32)
        return 2;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, work, &hash[i]))
            return 3;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    puts(hash[0] == hash[2] && hash[1] == hash[3] ? "pairs agree" : "pairs differ");
    return 0;
}
