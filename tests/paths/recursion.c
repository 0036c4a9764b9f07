/* paths: 3
 * len: 1
 *
 * A recursion of depth 1 to 3.
 */
#include <pleach.h>

static int factorial(int n) {
    if (n <= 1) return 1;
    return n * factorial(n - 1);
}

int main(void) { return factorial(pleach_u8() & 3); }
