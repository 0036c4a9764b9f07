/* paths: 6
 * len: 1
 *
 * Five cases and the default.
 */
#include <pleach.h>

int main(void) {
    switch (pleach_u8()) {
    case 'a': return 1;
    case 'b': return 2;
    case 'x': return 3;
    case 0: return 4;
    case 255: return 5;
    default: return 0;
    }
}
