/* paths: 2
 * len: 4
 *
 * Whether four bytes are the key: memcmp decides as a whole. Two.
 */
#include <pleach.h>
#include <string.h>

int main(void) {
    char in[4];
    pleach_bytes(in, 4);
    if (memcmp(in, "key!", 4) == 0) return 1;
    return 0;
}
