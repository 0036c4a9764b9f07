// Atomic operations on labelled values: load, store, exchange, add, compare-and-swap.
// opt: all
// run
// input: "\x05\x09\x0e"
// stdout: "exchanged\na hundred\n8d\n"
// exit: 0
// path: length: len > 2
// path: in[0] + in[1] == in[2]
// path: select: (in[2] ^ 3 | 128) == 141
// other: "\x05\x09\x0f"
// same: "\x06\x08\x0e"
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[3];
    atomic_int a = 0;
    if (read(0, in, 3) != 3)
        return 2;
    atomic_store(&a, in[0]);
    atomic_fetch_add(&a, in[1]);
    int expected = in[2];
    if (atomic_compare_exchange_strong(&a, &expected, 100))
        puts("exchanged");
    else
        puts(expected > 14 ? "was more" : "was less");
    int old = atomic_exchange(&a, in[2]);
    puts(old == 100 ? "a hundred" : "other");
    atomic_fetch_xor(&a, 3);
    atomic_fetch_or(&a, 0x80);
    puts(atomic_load(&a) == 0x8d ? "8d" : "not 8d");
    return 0;
}
