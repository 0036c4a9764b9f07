/* paths: 5
 * len: 2
 *
 * A switch of 3 in one of 3 cases: 3 + 1 + 1.
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
