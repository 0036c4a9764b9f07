// -fsanitize=undefined: the branches that UBSan inserts become checks in the symbolic half.
// flags: -O1 -fsanitize=undefined -fno-sanitize-recover=undefined
// run
// input: "\x10\x00\x00\x00\x03"
// stdout: "sixteen thousand and five\neight\nfour\n"
// exit: 0
// path: length: len > 4
// path: check: !smul_overflow32((int)u32le(in), 1000)
// path: select: u32le(in) * 1000 == 0x3e80
// path: check: (in[4] & 31) != 31
// path: select: (in[4] & 31) == 3
// path: check: (in[4] & 3) * 4 != -…
// path: select: (in[4] & 3) == 3
// other: "\x11\x00\x00\x00\x03"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[5];
    int x;
    if (read(0, in, 5) != 5)
        return 2;
    memcpy(&x, in, 4);
    int y = x * 1000 + 5;
    puts(y == 16005 ? "sixteen thousand and five" : "other");
    int z = 1 << (in[4] & 31);
    puts(z == 8 ? "eight" : "other");
    static const int t[4] = {1, 2, 3, 4};
    puts(t[in[4] & 3] == 4 ? "four" : "other");
    return 0;
}
