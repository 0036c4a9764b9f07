/* paths: 4
 * len: 2
 *
 * Each way to end is one path: exit, abort, a null pointer, return.
 */
#include <pleach.h>
#include <stdlib.h>

int main(void) {
    unsigned char in[2];
    pleach_bytes(in, 2);
    if (in[0] == 1) exit(3);
    if (in[0] == 2) abort();
    if (in[1] == 7) *(volatile int *)0 = 1;
    return 0;
}
