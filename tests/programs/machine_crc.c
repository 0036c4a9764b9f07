// CRC-32 by table over the payload, compared with the sum in the input.
// opt: all
// run
// input: "\x26\x39\xf4\xcb123456789"
// stdout: "intact\n"
// exit: 0
// path: length: len > 12
// path: select: (int)(main.table[in[12] ^ (uint8_t)(main.table[in[11] ^ (uint8_t)(main.table[in[10] ^ (uint8_t)(main.table[in[9] ^ (uint8_t)(main.table[in[8] …
// other: "\x26\x39\xf4\xcb123456788"
// run
// input: "\x00\x00\x00\x00123456789"
// stdout: "damaged\n"
// exit: 0
// path: length: len > 12
// path: select: (int)(main.table[in[12] ^ (uint8_t)(main.table[in[11] ^ (uint8_t)(main.table[in[10] ^ (uint8_t)(main.table[in[9] ^ (uint8_t)(main.table[in[8] …
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    static uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t r = i;
        for (int k = 0; k < 8; k++)
            r = r & 1 ? r >> 1 ^ 0xedb88320u : r >> 1;
        table[i] = r;
    }
    unsigned char in[13];
    uint32_t want, crc = ~0u;
    if (read(0, in, 13) != 13)
        return 2;
    memcpy(&want, in, 4);
    for (int i = 4; i < 13; i++)
        crc = table[(crc ^ in[i]) & 255] ^ crc >> 8;
    puts(~crc == want ? "intact" : "damaged");
    return 0;
}
