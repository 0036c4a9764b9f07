/* paths: 2
 * len: 4
 *
 * memcmp of four bytes with the key is one decision: 2 paths.
 */
#include <pleach.h>
#include <string.h>

int main(void) {
    char in[4];
    pleach_bytes(in, 4);
    if (memcmp(in, "key!", 4) == 0) return 1;
    return 0;
}
