// Multi-precision arithmetic: carries and borrows through four limbs.
// run
// input: "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x01"
// stdout: "carried through three limbs\ninto the last\n"
// exit: 0
// path: length: len > 15
// path: length: len > 16
// path: (int)((int64_t)in[16] + u32le(in)) == 0
// path: (int)(((int64_t)in[16] + u32le(in) >> 32) + u32le(in+4)) == 0
// path: (int)((((int64_t)in[16] + u32le(in) >> 32) + u32le(in+4) >> 32) + u32le(in+8)) == 0
// path: select: (int)(((((int64_t)in[16] + u32le(in) >> 32) + u32le(in+4) >> 32) + u32le(in+8) >> 32) + u32le(in+12)) == 0x1000000
// same: "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x02"
// other: "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x01"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    uint32_t limb[4];
    unsigned char add;
    if (read(0, limb, 16) != 16 || read(0, &add, 1) != 1)
        return 2;
    uint64_t carry = add;
    for (int i = 0; i < 4; i++) {
        carry += limb[i];
        limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (limb[0] == 0 && limb[1] == 0 && limb[2] == 0)
        puts("carried through three limbs");
    printf("%s\n", limb[3] == 0x01000000 ? "into the last" : "elsewhere");
    return (int)carry;
}
