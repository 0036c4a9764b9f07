/* paths: 3
 * len: 8
 *
 * Two conditions joined by &&, on the remainder and the quotient of one number: 3 paths.
 */
#include <pleach.h>

int main(void) {
    uint64_t x = pleach_u64();
    if (x % 1000 == 77 && x / 1000 == 123456789) return 1;
    return 0;
}
