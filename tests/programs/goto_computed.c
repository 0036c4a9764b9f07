// An indirect goto through a table of labels: a small threaded interpreter.
// opt: all
// run
// input: "\x01\x01\x02\x00"
// stdout: "4 after 4\n"
// exit: 4
// path: length: len <= 6
// path: len >= 1
// path: jump: main.op[in[0] & 3] == 0x…
// path: jump: main.op[in[1] & 3] == 0x…
// path: jump: main.op[in[2] & 3] == 0x…
// path: jump: main.op[in[3] & 3] == 0x…
// other: "\x01\x02\x02\x00"
// run
// input: "\x07\x00"
// stdout: "0 after 1\n"
// exit: 0
// path: length: len <= 6
// path: len >= 1
// path: jump: main.op[in[0] & 3] == 0x…
#include <stdio.h>
#include <unistd.h>

int main(void) {
    static void *const op[4] = {&&halt, &&inc, &&twice, &&halt};
    unsigned char code[8] = {0};
    int acc = 0, pc = 0;
    if (read(0, code, 7) < 1)
        return 2;
#define NEXT goto *op[code[pc++] & 3]
    NEXT;
inc:
    acc++;
    NEXT;
twice:
    acc *= 2;
    NEXT;
halt:
    printf("%d after %d\n", acc, pc);
    return acc;
}
