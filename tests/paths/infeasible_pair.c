/* paths: 4
 * len: 1
 *
 * No byte is above 10 and below 5: 3 of 4 combinations, and the short input.
 */
#include <pleach.h>

int main(void) {
    unsigned char a = pleach_u8();
    int found = 0;
    if (a > 10) found |= 1;
    if (a < 5) found |= 2;
    return found;
}
