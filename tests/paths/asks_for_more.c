/* paths: 7
 * len: 0
 *
 * Each value decides whether the program asks for another; the search adds the missing
 * values. A zero among the first 3 values ends the program (3 paths). Without a zero it
 * asks for one more value (2 paths). A first value of 9 asks for another one (2 paths).
 */
#include <crest.h>

int main(void) {
    unsigned char c;
    int n = 0, wide;
    for (n = 0; n < 3; n++) {
        CREST_unsigned_char(c);
        if (c == 0) return n;
        if (n == 0 && c == 9) {
            CREST_int(wide);
            return wide == 123456 ? 7 : 8;
        }
    }
    CREST_int(wide);
    if (wide < -1000) return 4;
    return 5;
}
