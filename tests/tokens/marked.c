/* Tokens that the source marks: one with its bytes hidden, one without. */
#include <pleach.h>
#include <stdio.h>

static short next(int hide) {
    short t = 0;
    if (hide)
        pleach_token_begin();
    int c = getchar();
    if (c == '(')
        t = 1;
    else if (c == ')')
        t = -2;
    pleach_token(&t);
    return t;
}

int main(void) {
    if (next(1) != 1)
        return 1;
    if (next(0) != -2)
        return 2;
    return 0;
}
