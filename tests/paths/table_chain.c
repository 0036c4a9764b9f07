/* paths: 2
 * len: 3
 *
 * A state machine by tables, one byte per step, accepts one word of three letters:
 * accepted or not, 2 paths.
 */
#include <pleach.h>

static unsigned char next[4][256];

int main(void) {
    unsigned char in[3];
    int state = 0, i;
    next[0]['i'] = 1;
    next[1]['n'] = 2;
    next[2]['t'] = 3;
    pleach_bytes(in, 3);
    for (i = 0; i < 3; i++) state = next[state & 3][in[i]];
    if (state == 3) return 1;
    return 0;
}
