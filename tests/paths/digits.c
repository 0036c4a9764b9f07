/* paths: 4
 * len: 3
 *
 * Digits up to the first other character: 0 to 3 digits.
 */
#include <pleach.h>
#include <ctype.h>

int main(void) {
    unsigned char in[3];
    int n = 0;
    pleach_bytes(in, 3);
    while (n < 3 && isdigit(in[n])) n++;
    return n;
}
