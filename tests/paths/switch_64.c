/* paths: 3
 * len: 8
 *
 * Two cases that need 64-bit values, and the default.
 */
#include <pleach.h>

int main(void) {
    switch (pleach_u64()) {
    case 0x123456789abcdefULL: return 1;
    case 0xffffffffffffffffULL: return 2;
    default: return 0;
    }
}
