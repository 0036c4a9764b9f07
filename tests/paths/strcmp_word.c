/* paths: 2
 * len: 4
 *
 * strcmp of four bytes with the word: its result is only compared with 0, so it is
 * one decision: 2 paths.
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
