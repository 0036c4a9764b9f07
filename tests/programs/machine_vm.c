// A stack machine: opcodes and operands from the input, with limits on steps and stack.
// opt: all
// run
// input: "\x01\x06\x01\x07\x03\x05"
// stdout: "forty-two\nhalt, 0 deep\n"
// exit: 0
// path: length: len <= 31
// path: len >= 1
// path: switch: in[0] == 1
// path: switch: in[2] == 1
// path: switch: in[4] == 3
// path: in[4] != 2
// path: switch: in[5] == 5
// path: select: in[3] * in[1] == 42
// path: length: len <= 6
// same: "\x01\x07\x01\x06\x03\x05"
// other: "\x01\x06\x01\x07\x02\x05"
// run
// input: "\x01\x05\x04\xfe\x02"
// stdout: "underflow\n"
// exit: 1
// path: length: len <= 31
// path: len >= 1
// path: switch: in[0] == 1
// path: switch: in[2] == 4
// path: in[1] != '\0'
// path: (int8_t)in[3] + 3 > -1
// path: (uint32_t)((int8_t)in[3] + 3) < 31
// path: switch: table_…[(uint32_t)((int8_t)in[3] + 3)] == 5
#include <stdio.h>
#include <unistd.h>

enum { HALT, PUSH, ADD, MUL, JUMP_IF, TEST };

int main(void) {
    unsigned char code[32] = {0};
    int stack[8], sp = 0, pc = 0;
    if (read(0, code, 32) < 1)
        return 2;
    for (int steps = 0; steps < 40 && pc >= 0 && pc < 31; steps++) {
        switch (code[pc++]) {
        case HALT:
            return printf("halt, %d deep\n", sp), 0;
        case PUSH:
            if (sp == 8) return puts("overflow"), 1;
            stack[sp++] = code[pc++];
            break;
        case ADD: case MUL:
            if (sp < 2) return puts("underflow"), 1;
            sp--;
            stack[sp - 1] = code[pc - 1] == ADD ? stack[sp - 1] + stack[sp]
                                                : (int)((unsigned)stack[sp - 1] * (unsigned)stack[sp]);
            break;
        case JUMP_IF:
            if (sp < 1) return puts("underflow"), 1;
            if (stack[--sp]) pc += (signed char)code[pc];
            break;
        case TEST:
            if (sp < 1) return puts("underflow"), 1;
            puts(stack[--sp] == 42 ? "forty-two" : "other");
            break;
        default:
            return puts("bad opcode"), 1;
        }
    }
    puts("out of steps");
    return 3;
}
