/* Lets libFuzzer run a recorded list of inputs instead of its own mutants.
 *
 * It is linked to a target of libFuzzer as its custom mutator. So everything but mutation
 * is libFuzzer's own: copying the input, clearing and reading the counters, the corpus.
 * The list is run once to warm up. Then it is run again and again for REPLAY_SECONDS, and
 * the number of runs and the seconds are printed to standard output.
 *
 * REPLAY_INPUTS names the list: for each input its length, in four bytes with the lowest
 * first, and its bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned char *list;
static size_t list_size, at, passes;
static double start, limit;
static unsigned long runs;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void read_list(void) {
    const char *path = getenv("REPLAY_INPUTS"), *seconds = getenv("REPLAY_SECONDS");
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file || !seconds) {
        fprintf(stderr, "REPLAY_INPUTS and REPLAY_SECONDS are not set\n");
        _exit(2);
    }
    limit = atof(seconds);
    fseek(file, 0, SEEK_END);
    list_size = (size_t)ftell(file);
    rewind(file);
    list = malloc(list_size);
    if (!list || fread(list, 1, list_size, file) != list_size) _exit(2);
    fclose(file);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    (void)size;
    (void)seed;
    if (!list) read_list();
    if (at == list_size) {
        double time = now();
        at = 0;
        if (passes++ == 0) {
            start = time;
            runs = 0;
        } else if (time - start >= limit) {
            printf("%lu %.6f\n", runs, time - start);
            fflush(stdout);
            _exit(0);
        }
    }
    size_t length = list[at] | list[at + 1] << 8 | list[at + 2] << 16 | (size_t)list[at + 3] << 24;
    if (length > max_size) _exit(3);
    memcpy(data, list + at + 4, length);
    at += 4 + length;
    runs++;
    return length;
}
