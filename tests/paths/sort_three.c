/* paths: 6
 * len: 3
 *
 * Three comparisons sort three bytes. If the first two find the order correct, the third
 * cannot swap; the same after a swap in the first alone: 6 of 8 paths are feasible.
 */
#include <pleach.h>

int main(void) {
    unsigned char v[3], t;
    pleach_bytes(v, 3);
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    if (v[1] > v[2]) { t = v[1]; v[1] = v[2]; v[2] = t; }
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    return 0;
}
