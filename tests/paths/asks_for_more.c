/* paths: 7
 * len: 0
 *
 * Each value decides whether there is another: a value that nobody gave is asked for and
 * found. A chain of up to 3 values, each ended by a zero (3 ways), or full, and then two
 * ways with one more value; and a first value of 9 with two ways of its own.
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
