/* paths: 5
 * len: 3
 *
 * (a && b) || c: with a false or b false, c decides: 2 + 2; with both true it is
 * not looked at: 1.
 */
#include <pleach.h>

int main(void) {
    unsigned char in[3];
    pleach_bytes(in, 3);
    if ((in[0] && in[1]) || in[2]) return 1;
    return 0;
}
