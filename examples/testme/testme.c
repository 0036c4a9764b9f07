/* A state machine after Figure 1 of "Hybrid concolic testing" (Majumdar, Sen,
 * ICSE 2007). Nine characters, one in each state, lead to the last state; there
 * the word "reset" is an error.
 *
 * Random events reach the last state soon, because a wrong character does no harm. But
 * they do not spell a word. A search that solves for every branch spells the word at
 * once, but has too many paths through the states: it would have to solve for the nine
 * characters in the right order first. Hybrid search does the first with random events
 * and the second by solving:
 *
 *     pleach-cc -O2 -g -o testme testme.c
 *     pleach run -s hybrid --stop-on-crash -o out -- ./testme
 */
#include <pleach.h>
#include <stdlib.h>

int main(void) {
    int state = 0;
    for (;;) {
        char c = (char)pleach_i8();
        char s[6];
        pleach_bytes(s, sizeof s);
        if (c == '[' && state == 0) state = 1;
        if (c == '(' && state == 1) state = 2;
        if (c == '{' && state == 2) state = 3;
        if (c == '~' && state == 3) state = 4;
        if (c == 'a' && state == 4) state = 5;
        if (c == 'x' && state == 5) state = 6;
        if (c == '}' && state == 6) state = 7;
        if (c == ')' && state == 7) state = 8;
        if (c == ']' && state == 8) state = 9;
        if (s[0] == 'r' && s[1] == 'e' && s[2] == 's' && s[3] == 'e' && s[4] == 't' && s[5] == 0 &&
            state == 9)
            abort(); /* ERROR */
    }
}
