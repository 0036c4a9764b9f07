/* paths: 4
 * len: 1
 *
 * Three branches, each inside the true side of the one before: 4 paths.
 */
#include <pleach.h>

int main(void) {
    unsigned char a = pleach_u8();
    int depth = 0;
    if (a > 10) {
        depth = 1;
        if (a > 20) {
            depth = 2;
            if (a > 30) depth = 3;
        }
    }
    return depth;
}
