/* paths: 3
 * len: 1
 *
 * No byte is both above 10 and below 5: 3 of 4 combinations are feasible.
 */
#include <pleach.h>

int main(void) {
    unsigned char a = pleach_u8();
    int found = 0;
    if (a > 10) found |= 1;
    if (a < 5) found |= 2;
    return found;
}
