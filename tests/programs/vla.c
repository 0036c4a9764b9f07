// Variable-length arrays whose size comes from the input are filled and read.
// opt: all
// run
// input: "3xyz"
// stdout: "differs backwards\n"
// exit: 0
// path: length: len <= 8
// path: len >= 2
// path: (int8_t)in[0] >= '1'
// path: in[0] <= '8'
// path: (uint32_t)((int8_t)in[0] - '0') > 1
// path: check: (uint64_t)((int64_t)(uint32_t)((int8_t)in[0] - '0') - 1) <= 9
// path: (uint32_t)((int8_t)in[0] - '0') > 2
// path: (uint32_t)((int8_t)in[0] - '0') <= 3
// path: table_…[(uint32_t)((int8_t)in[0] - '0')] != in[1]
// path: select: table_…[(uint32_t)((int8_t)in[0] - '0')] != in[1]
// same: "3xyw"
// other: "2xyz"
#include <stdio.h>
#include <unistd.h>

static int palindrome(int n, const char *text) {
    char back[n];
    for (int i = 0; i < n; i++)
        back[i] = text[n - 1 - i];
    for (int i = 0; i < n; i++)
        if (back[i] != text[i])
            return 0;
    return 1;
}

int main(void) {
    char in[10] = {0};
    if (read(0, in, 9) < 2)
        return 2;
    int n = in[0] - '0';
    if (n < 1 || n > 8)
        return 1;
    puts(palindrome(n, in + 1) ? "same backwards" : "differs backwards");
    return 0;
}
