/* A lexer that is left by a jump at a bad character, and one inside another. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf bad;

static int inner(void) {
    int c = getchar();
    if (c == '!')
        longjmp(bad, 1);
    return c;
}
static int lex(void) {
    int c = inner();
    return c == EOF ? 0 : c == ' ' ? 1 : c < 'a' ? 2 : 3;
}
static int next_token(void) {
    int t;
    do
        t = lex();
    while (t == 1);
    return t;
}

int main(void) {
    int c, errors = 0;
    if (setjmp(bad)) {
        errors = 1;
        if ((c = getchar()) == 'x')
            return 9;
    }
    while ((c = next_token()))
        if (c == 2)
            errors += 2;
    return errors;
}
