// A hand-written state machine with an enum and a switch in a loop: it removes C comments from text.
// opt: all
// run
// input: "a/*b*/c"
// stdout: "2 text, 1 comment, closed\n"
// exit: 0
// path: length: len > 0
// path: in[0] != '/'
// path: length: len > 1
// path: switch: in[0] != '/'
// path: in[1] == '/'
// path: length: len > 2
// path: switch: in[1] == '/'
// path: in[2] == '*'
// path: length: len > 3
// path: in[3] != '*'
// path: length: len > 4
// path: in[4] == '*'
// path: length: len > 5
// path: in[5] == '/'
// path: length: len > 6
// path: in[6] != '/'
// path: length: len <= 7
// path: select: in[6] != '/'
// same: "x/*y*/z"
// other: "a/*b* c"
#include <stdio.h>

int main(void) {
    enum { TEXT, SLASH, COMMENT, STAR } state = TEXT;
    int text = 0, comment = 0;
    for (int c; (c = getchar()) != EOF;) {
        switch (state) {
        case TEXT:
            if (c == '/') state = SLASH;
            else text++;
            break;
        case SLASH:
            if (c == '*') state = COMMENT;
            else text += 2, state = TEXT;
            break;
        case COMMENT:
            if (c == '*') state = STAR;
            else comment++;
            break;
        case STAR:
            if (c == '/') state = TEXT;
            else if (c != '*') state = COMMENT;
            break;
        }
    }
    printf("%d text, %d comment, %s\n", text, comment, state == TEXT ? "closed" : "open");
    return state;
}
