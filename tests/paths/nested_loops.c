/* paths: 13
 * len: 2
 *
 * Without an outer iteration the inner bound is never read: 1 path. With 1 to 3 outer
 * iterations the inner loop has 0 to 3, the same number each time: 3 * 4 paths.
 */
#include <pleach.h>

int main(void) {
    unsigned char in[2];
    int i, j, count = 0;
    pleach_bytes(in, 2);
    for (i = 0; i < (in[0] & 3); i++)
        for (j = 0; j < (in[1] & 3); j++) count++;
    return count;
}
