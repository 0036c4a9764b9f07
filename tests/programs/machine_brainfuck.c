// An interpreter whose loops depend on the data it computes; bounded in steps.
// opt: all
// run
// input: "++[>+++<-]>."
// stdout: "6\n"
// exit: 0
// path: length: len <= 23
// path: len >= 1
// path: in[0] != '\0'
// path: switch: in[0] == '+'
// path: in[0] != '\0'
// path: in[1] != '\0'
// path: switch: in[1] == '+'
// path: in[1] != '\0'
// path: in[2] != '\0'
// path: switch: in[2] == '['
// path: in[2] != '\0'
// path: in[3] != '\0'
// path: switch: in[3] == '>'
// path: in[3] != '\0'
// path: in[4] != '\0'
// path: switch: in[4] == '+'
// path: in[4] != '\0'
// path: in[5] != '\0'
// path: switch: in[5] == '+'
// path: in[5] != '\0'
// path: in[6] != '\0'
// path: switch: in[6] == '+'
// path: in[6] != '\0'
// path: in[7] != '\0'
// path: …
// other: "++[>+++<-]."
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char code[25] = {0};
    unsigned char cell[8] = {0};
    if (read(0, code, 24) < 1)
        return 2;
    int at = 0;
    for (int pc = 0, steps = 0; code[pc] && steps < 200; pc++, steps++) {
        int level = 0;
        switch (code[pc]) {
        case '+': cell[at]++; break;
        case '-': cell[at]--; break;
        case '>': at = (at + 1) & 7; break;
        case '<': at = (at - 1) & 7; break;
        case '.': printf("%d\n", cell[at]); break;
        case '[':
            if (cell[at] == 0)
                while (code[pc] && !(code[pc] == ']' && --level == 0))
                    level += code[pc++] == '[';
            break;
        case ']':
            if (cell[at])
                while (pc > 0 && !(code[pc] == '[' && --level == 0))
                    level += code[pc--] == ']';
            break;
        }
        if (!code[pc])
            break;
    }
    return 0;
}
