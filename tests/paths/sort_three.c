/* paths: 6
 * len: 3
 *
 * Three comparisons that sort three bytes. After two that found order the third
 * cannot swap, and after a swap in the first place alone neither: 6 of 8 ways.
 */
#include <pleach.h>

int main(void) {
    unsigned char v[3], t;
    pleach_bytes(v, 3);
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    if (v[1] > v[2]) { t = v[1]; v[1] = v[2]; v[2] = t; }
    if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t; }
    return 0;
}
