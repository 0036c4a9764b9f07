/* paths: 4
 * len: 1
 *
 * Negative or not, and each case is split at an absolute value of 100: 4 paths.
 */
#include <pleach.h>

int main(void) {
    int8_t a = pleach_i8();
    if (a < 0) {
        if (-a > 100) return 1;
        return 2;
    }
    if (a > 100) return 3;
    return 4;
}
