/* paths: 5
 * len: 3
 *
 * (a && b) || c: if a or b is false, c decides: 2 + 2 paths; if both are true, c is
 * not evaluated: 1 path.
 */
#include <pleach.h>

int main(void) {
    unsigned char in[3];
    pleach_bytes(in, 3);
    if ((in[0] && in[1]) || in[2]) return 1;
    return 0;
}
