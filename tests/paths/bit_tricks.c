/* paths: 3
 * len: 2
 *
 * Two conditions joined by &&: 3 paths.
 */
#include <pleach.h>

int main(void) {
    unsigned char in[2];
    pleach_bytes(in, 2);
    if (__builtin_popcount(in[0]) == 3 && __builtin_ctz(in[1] | 256) == 5) return 1;
    return 0;
}
