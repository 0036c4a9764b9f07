/* Two threads with a lexer each: one numbering, and what one is in does not silence
 * the other. */
#include <pthread.h>
#include <stdio.h>

static char in[64];
static int results[2];

static int get_token(int at) {
    char c = in[at];
    return c == 'a' ? 1 : c == 'b' ? 2 : 3;
}
static void *work(void *p) {
    int k = *(int *)p, sum = 0;
    for (int i = 0; i < 16; i++) {
        int t = get_token(16 * k + i);
        if (t == 2)
            sum++;
    }
    results[k] = sum;
    return 0;
}
int main(void) {
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    if (!fread(in, 1, 32, stdin))
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return results[0] + results[1];
}
