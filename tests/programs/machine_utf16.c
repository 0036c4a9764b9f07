// UTF-16 with a byte order mark: the mark decides how all later pairs are read.
// run
// input: "\xfe\xff\x00h\xd8\x3d\xde\x00"
// stdout: "big, 2 points\n"
// exit: 0
// path: length: len <= 15
// path: len >= 2
// path: (len & 1) == 0
// path: u16be(in) == 0xfeff
// path: len != 2
// path: u16be(in) == 0xfeff
// path: (u16be(in+2) & 0xfc00) != 0xd800
// path: len > 4
// path: (u16be(in+4) & 0xfc00) == 0xd800
// path: len > 6
// path: u16be(in+4) != 0
// path: (u16be(in+6) & 0xfc00) == 0xdc00
// path: len <= 8
// same: "\xfe\xff\x00i\xd8\x3d\xde\x01"
// other: "\xff\xfe\x00h\xd8\x3d\xde\x00"
// run
// input: "\xff\xfeh\x00"
// stdout: "little, 1 points\n"
// exit: 0
// path: length: len <= 15
// path: len >= 2
// path: (len & 1) == 0
// path: u16be(in) != 0xfeff
// path: u16be(in) == 0xfffe
// path: len != 2
// path: u16be(in) != 0xfeff
// path: (u16le(in+2) & 0xfc00) != 0xd800
// path: len <= 4
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[16];
    long n = read(0, in, sizeof in);
    if (n < 2 || n % 2)
        return 2;
    uint16_t mark = (uint16_t)(in[0] << 8 | in[1]);
    if (mark != 0xfeff && mark != 0xfffe)
        return puts("no mark"), 1;
    int big = mark == 0xfeff, points = 0;
    uint32_t high = 0;
    for (long i = 2; i < n; i += 2) {
        uint16_t u = (uint16_t)(big ? in[i] << 8 | in[i + 1] : in[i + 1] << 8 | in[i]);
        if (high) {
            if (u >> 10 != 0x37)
                return puts("lone high"), 1;
            high = 0, points++;
        } else if (u >> 10 == 0x36) {
            high = u;
        } else {
            points++;
        }
    }
    printf("%s, %d points\n", big ? "big" : "little", points);
    return high != 0;
}
