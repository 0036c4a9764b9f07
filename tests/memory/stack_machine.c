// An interpreter with a stack and registers in memory.
// seed: "\x01\x05\x01\x03\x02\x03\x01\x04\x01\x00"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char code[10];
    int stack[8] = { 0 }, registers[4] = { 0 }, top = 0;
    if (read(0, code, 10) != 10)
        return 0;
    for (int at = 0; at + 1 < 10; at += 2) {
        int operand = code[at + 1];
        switch (code[at] & 3) {
        case 0:
            if (top == 0)
                return 0;
            registers[operand & 3] = stack[--top];
            break;
        case 1:
            if (top == 8)
                return 0;
            stack[top++] = operand;
            break;
        case 2:
            if (top < 2)
                return 0;
            stack[top - 2] = stack[top - 2] * 3 + stack[top - 1];
            top--;
            break;
        default:
            if (top == 8)
                return 0;
            stack[top++] = registers[operand & 3];
        }
    }
    if (goal == 0 && top == 1 && stack[0] == 100)
        abort();
    if (goal == 1 && registers[2] == 200)
        abort();
    return 0;
}
