/* paths: 31
 * len: 2
 *
 * Reading stops at the end of the input or after four bytes. Inputs of 0, 1, 2,
 * 3 and 4 bytes, each byte an x or not: 1 + 2 + 4 + 8 + 16.
 */
#include <stdio.h>

int main(void) {
    int n = 0, hits = 0, c;
    while (n < 4 && (c = getchar()) != EOF) {
        n++;
        if (c == 'x') hits++;
    }
    return hits;
}
