// Inline assembly overwrites labelled memory: the label is dropped (healed). A barrier changes nothing.
// run
// input: "\x05\x06"
// stdout: "nine\nsix\n"
// exit: 0
// path: length: len > 1
// path: select: in[1] == 6
// free: 0
// must: in[1] == 6
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    __asm__ volatile("movb $9, %0" : "=m"(in[0]));
    __asm__ volatile("" ::: "memory");
    puts(in[0] == 9 ? "nine" : "impossible");
    puts(in[1] == 6 ? "six" : "other");
    return 0;
}
