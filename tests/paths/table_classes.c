/* paths: 4
 * len: 1
 *
 * A table gives each byte one of four classes.
 */
#include <pleach.h>

static unsigned char class_of[256];

int main(void) {
    int c;
    for (c = 0; c < 256; c++)
        class_of[c] = c >= '0' && c <= '9' ? 1 : c >= 'a' && c <= 'z' ? 2 : c == ' ' ? 3 : 0;
    switch (class_of[pleach_u8()]) {
    case 1: return 1;
    case 2: return 2;
    case 3: return 3;
    default: return 0;
    }
}
