/* paths: 4
 * len: 1
 *
 * Each branch inside the last one's true side: 4.
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
