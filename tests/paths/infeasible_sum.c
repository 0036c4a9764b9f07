/* paths: 4
 * len: 3
 *
 * The sum of three digits is at most 27, so the last branch has only one feasible
 * side: one of the three is no digit (3 paths), all are digits (1 path).
 */
#include <pleach.h>

int main(void) {
    unsigned char in[3];
    int i, sum = 0;
    pleach_bytes(in, 3);
    for (i = 0; i < 3; i++) {
        if (in[i] > 9) return 1;
        sum += in[i];
    }
    if (sum > 27) return 2;
    return 0;
}
