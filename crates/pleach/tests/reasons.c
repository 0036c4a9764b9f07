/* One branch for each reason why a branch is not taken. A comment names the side and the
   reason; `tests/all/reasons.rs` checks them. Linked with reasons-plain.c, which has
   no instrumentation. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int strange(int x); /* 0 to 30, and never x */
void leave(void);   /* ends the program */

char large[1 << 20];
static int matches;
static int (*volatile hidden)(int);

int nobody_calls_this(int x) {
    if (x == 5) return 1; /* true: unreached nothing calls nobody_calls_this */
    return 0;
}

static char *volatile kept;

static char *duplicate(int zero) {
    char *copy = malloc(8);
    if (copy) copy[0] = (char)zero; /* false: concrete */
    kept = copy;
    return copy;
}

__attribute__((noinline)) static void remember(int value) { matches = value; }

int main(int argc, char **argv) {
    unsigned char in[32];
    uint32_t x, y;
    (void)argv;
    if (read(0, in, 32) != 32) return 1;

    /* An address that is held at its value decides later. */
    if (in[31] == 'h') {
        memcpy(&x, in + 20, 4);
        matches += large[x % sizeof large];
        if (x == 0xdeadbeef) puts("pinned"); /* true: refuted an address was held at its value (reasons.c:42 in main) */
        return 3;
    }

    /* A product that nobody can factor. */
    if (in[31] == 'p') {
        memcpy(&x, in + 8, 4);
        memcpy(&y, in + 12, 4);
        if ((uint64_t)x * y == 8670687648630721837ULL) puts("factors"); /* true: unsolved the solver gave up */
        return 2;
    }

    /* Contradictory, as the compiler knows. */
    if (in[9] < 10 && in[9] > 20) puts("known"); /* true: refuted the compiler has proved */

    /* Contradictory. */
    if (in[0] * in[1] == 35) {
        if (in[0] == 6) { /* true: refuted on any of the 2 paths that were tried */
            puts("both");
            if (in[10] == 'x') puts("behind"); /* true: unreached nearest reached branch */
        }
    }

    /* The compiler splits the path at the first condition, and then knows the second one. */
    char *copy = duplicate(in[18] == 'd');
    if (copy == NULL) puts("memory"); /* true: concrete */

    /* Nothing of the input. */
    if (argc > 7) puts("arguments"); /* true: concrete */

    /* A function without a model. */
    if (strange(in[2]) == 77) puts("strange"); /* true: lost result of strange, which has no model */

    /* A value that is read where the address is held. */
    if (large[(in[3] & 255) * 4096] == 7) puts("large"); /* true: lost reasons.c:77 in main, where the address was held */

    /* Floating point. */
    if (in[4] / 2.0L > 1000.0L) puts("float"); /* true: lost floating point */

    /* The same value decided before. */
    remember(in[6] == 'k');
    if (in[6] == 'k') {
        if (matches) puts("again"); /* false: refuted no input takes it */
    }

    /* The result of the function is held, and changes with the input. */
    if (in[7] == strange(in[7])) puts("equal"); /* true: missed the runs took another way */

    if (in[16] == 'q') {
        leave();
        if (in[17] == 'r') puts("after"); /* true: unreached a call did not return */
    }
    return hidden ? hidden(1) : 0; /* true: concrete */
}
