// A CRC-8 without tables: each bit is used as a mask, so there is no branch inside.
// run
// input: "abc\x5f"
// stdout: "intact\n"
// exit: 0
// path: length: len > 3
// path: select: (((int8_t)(((int8_t)(((int8_t)(((int8_t)(((int8_t)(((int8_t)(((int8_t)(((int8_t)(in[2] ^ (((int8_t)(((int8_t)(((int8_t)(((int8_t)(((int8_t)(((…
// other: "abd\x5f"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    uint8_t in[4], crc = 0;
    if (read(0, in, 4) != 4)
        return 2;
    for (int i = 0; i < 3; i++) {
        crc ^= in[i];
        for (int k = 0; k < 8; k++)
            crc = (uint8_t)(crc << 1 ^ (0x07 & -(crc >> 7)));
    }
    puts(crc == in[3] ? "intact" : "damaged");
    return 0;
}
