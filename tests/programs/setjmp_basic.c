// setjmp and longjmp as the error exit of a parser; the value passed to longjmp comes from the input.
// opt: all
// run
// input: "12x"
// stdout: "an x\n"
// exit: 0
// path: length: len > 0
// path: in[0] >= '0'
// path: in[0] <= '9'
// path: length: len > 1
// path: in[1] >= '0'
// path: in[1] <= '9'
// path: length: len > 2
// path: in[2] >= '0'
// path: in[2] > '9'
// path: model: in[2] != '\0'
// path: in[2] != '\0'
// path: select: in[2] == 'x'
// same: "90x"
// other: "12y"
// run
// input: "123"
// stdout: "end\n"
// exit: 0
// path: length: len > 0
// path: in[0] >= '0'
// path: in[0] <= '9'
// path: length: len > 1
// path: in[1] >= '0'
// path: in[1] <= '9'
// path: length: len > 2
// path: in[2] >= '0'
// path: in[2] <= '9'
// path: length: len <= 3
#include <setjmp.h>
#include <stdio.h>

static jmp_buf escape;

static int digit(void) {
    int c = getchar();
    if (c == EOF)
        longjmp(escape, -1);
    if (c < '0' || c > '9')
        longjmp(escape, c);
    return c - '0';
}

int main(void) {
    static volatile int sum;
    int why = setjmp(escape);
    if (why == 0) {
        for (;;)
            sum += digit();
    }
    puts(why == -1 ? "end" : why == 'x' ? "an x" : "another");
    return 0;
}
