/* paths: 2
 * len: 8
 *
 * Only one 64-bit number has this product: 2 paths.
 */
#include <pleach.h>

int main(void) {
    uint64_t x = pleach_u64();
    if (x * 0x9e3779b97f4a7c15ULL == 0x0123456789abcdefULL) return 1;
    return 0;
}
