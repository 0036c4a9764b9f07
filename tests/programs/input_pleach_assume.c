// pleach_assume: a run that violates the assumption ends, and the assumption is part of the path condition.
// plain: no
// run
// input: "\x28\x00"
// stdout: "above\n"
// exit: 0
// path: assume: in[0] < 'd'
// path: select: in[0] > 30
// must: in[0] <= 99
#include <pleach.h>
#include <stdio.h>

int main(void) {
    uint8_t n = pleach_u8();
    pleach_assume(n < 100);
    puts(n > 30 ? "above" : "below");
    return 0;
}
