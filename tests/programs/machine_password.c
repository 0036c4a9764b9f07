// A password check in constant time: only the last step is a branch, on an expression over all bytes.
// opt: all
// run
// input: "open sesame"
// stdout: "open\n"
// exit: 0
// path: length: len > 10
// path: select: ((uint32_t)(int8_t)(in[0] ^ 111) | 0 | (uint32_t)(int8_t)(in[1] ^ 112) | (uint32_t)(int8_t)(in[2] ^ 101) | (uint32_t)(int8_t)(in[3] ^ 110) | (…
// must: in[4] == ' '
// other: "open sesamo"
// run
// input: "shut sesame"
// stdout: "closed\n"
// exit: 0
// path: length: len > 10
// path: select: ((uint32_t)(int8_t)(in[0] ^ 111) | 0 | (uint32_t)(int8_t)(in[1] ^ 112) | (uint32_t)(int8_t)(in[2] ^ 101) | (uint32_t)(int8_t)(in[3] ^ 110) | (…
#include <stdio.h>
#include <unistd.h>

int main(void) {
    static const char secret[] = "open sesame";
    char in[11];
    unsigned difference = 0;
    if (read(0, in, 11) != 11)
        return 2;
    for (int i = 0; i < 11; i++)
        difference |= (unsigned)(in[i] ^ secret[i]);
    puts(difference ? "closed" : "open");
    return 0;
}
