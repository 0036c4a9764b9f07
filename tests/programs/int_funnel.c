// Double-word shifts: two words are joined and shifted by an amount from the input, and one word is used.
// opt: all
// run
// input: "\xef\xcd\xab\x89\x67\x45\x23\x01\x04"
// stdout: "left\nright\nfc\n"
// exit: 0
// path: length: len > 8
// path: u64le(in) << (in[8] & 31) >> 32 == 0x12345678
// path: (int)(u64le(in) >> (in[8] & 31)) == 0x789abcde
// path: select: ((8 - (in[8] & 7) < 16 ? u16be(in) >> (8 - (in[8] & 7) < 16 ? 8 - (in[8] & 7) : 0) : 0) & 255) == 252
// other: "\xef\xcd\xab\x89\x67\x45\x23\x01\x08"
// run
// input: "\x00\x00\x00\x80\x00\x00\x00\x00\x21"
// stdout: "carried\nright one\nnot fc\n"
// exit: 0
// path: length: len > 8
// path: u64le(in) << (in[8] & 31) >> 32 != 0x12345678
// path: select: u64le(in) << (in[8] & 31) >> 32 == 1
// path: (int)(u64le(in) >> (in[8] & 31)) != 0x789abcde
// path: select: (int)(u64le(in) >> (in[8] & 31)) > 0x3fffffff
// path: select: ((8 - (in[8] & 7) < 16 ? u16be(in) >> (8 - (in[8] & 7) < 16 ? 8 - (in[8] & 7) : 0) : 0) & 255) != 252
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned char in[9];
    uint32_t lo, hi;
    if (read(0, in, 9) != 9)
        return 2;
    memcpy(&lo, in, 4);
    memcpy(&hi, in + 4, 4);
    uint64_t both = (uint64_t)hi << 32 | lo;
    unsigned n = in[8] & 31;
    uint32_t left = (uint32_t)((both << n) >> 32);
    uint32_t right = (uint32_t)(both >> n);
    printf("%s\n", left == 0x12345678u ? "left" : left == 1 ? "carried" : "left other");
    printf("%s\n", right == 0x789abcdeu ? "right" : right >> 30 == 1 ? "right one" : "right other");
    uint16_t pair = (uint16_t)(in[0] << 8 | in[1]);
    printf("%s\n", (uint8_t)(pair >> (8 - (n & 7))) == 0xfc ? "fc" : "not fc");
    return 0;
}
