/* paths: 2
 * len: 4
 *
 * Whether four bytes are the word: a comparison of strings whose result is only
 * compared with 0 is one decision. Two.
 */
#include <pleach.h>
#include <string.h>

int main(void) {
    char in[5];
    pleach_bytes(in, 4);
    in[4] = 0;
    if (strcmp(in, "word") == 0) return 1;
    return 0;
}
