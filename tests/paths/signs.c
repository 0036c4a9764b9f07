/* paths: 9
 * len: 2
 *
 * A function with 3 paths is called twice: 9 paths.
 */
#include <pleach.h>

static int sign(int x) {
    if (x < 0) return -1;
    if (x > 0) return 1;
    return 0;
}

int main(void) {
    int8_t in[2];
    pleach_bytes(in, 2);
    return 4 * (sign(in[0]) + 1) + sign(in[1]) + 1;
}
