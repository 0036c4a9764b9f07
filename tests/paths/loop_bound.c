/* paths: 8
 * len: 1
 *
 * A loop whose bound is input: 0 to 7 iterations.
 */
#include <pleach.h>

int main(void) {
    int n = pleach_u8() & 7, i, sum = 0;
    for (i = 0; i < n; i++) sum += i;
    return sum;
}
