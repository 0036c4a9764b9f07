/* paths: 5
 * len: 2
 *
 * A switch with 3 outcomes, and one of them has a switch with 3: 3 + 1 + 1 paths.
 */
#include <pleach.h>

int main(void) {
    unsigned char in[2];
    pleach_bytes(in, 2);
    switch (in[0]) {
    case 1:
        switch (in[1]) {
        case 1: return 11;
        case 2: return 12;
        default: return 10;
        }
    case 2: return 2;
    default: return 0;
    }
}
