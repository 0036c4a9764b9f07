/* paths: 3
 * len: 8
 *
 * Remainder and quotient of one number: 3 ways.
 */
#include <pleach.h>

int main(void) {
    uint64_t x = pleach_u64();
    if (x % 1000 == 77 && x / 1000 == 123456789) return 1;
    return 0;
}
