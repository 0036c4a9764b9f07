/* paths: 4
 * len: 2
 *
 * Two independent branches: 2 * 2.
 */
#include <pleach.h>

int main(void) {
    unsigned char in[2];
    int found = 0;
    pleach_bytes(in, 2);
    if (in[0] < 10) found |= 1;
    if (in[1] < 10) found |= 2;
    return found;
}
