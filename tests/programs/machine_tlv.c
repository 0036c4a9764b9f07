// Nested type-length-value records with bounds on every length.
// opt: all
// run
// input: "\x30\x06\x02\x01\x05\x04\x01z"
// stdout: "well formed, five\n"
// exit: 0
// path: length: len <= 31
// path: len > 0
// path: len != 1
// path: (uint32_t)(len - 2) >= in[1]
// path: (in[0] & 32) != 0
// path: in[1] > 0
// path: in[1] != 1
// path: (uint32_t)(in[1] - 2) >= in[3]
// path: (in[2] & 32) == 0
// path: in[2] == 2
// path: in[3] != '\0'
// path: in[3] <= 1
// path: in[1] - (in[3] + 2) > 0
// path: in[1] - (in[3] + 2) != 1
// path: (uint32_t)(in[1] - (in[3] + 2) - 2) >= in[in[3] + 2 + 3]
// path: (in[in[3] + 2 + 2] & 32) == 0
// path: in[in[3] + 2 + 2] != 2
// path: in[1] - (in[3] + 2) - (in[in[3] + 2 + 3] + 2) <= 0
// path: (int)(len - (in[1] + 2)) <= 0
// path: select: in[4] == 5
// same: "\x30\x06\x02\x01\x05\x04\x01y"
// other: "\x30\x06\x02\x01\x06\x04\x01z"
// run
// input: "\x30\x06\x02\x09\x05\x04\x01z"
// stdout: "broken, not five\n"
// exit: 1
// path: length: len <= 31
// path: len > 0
// path: len != 1
// path: (uint32_t)(len - 2) >= in[1]
// path: (in[0] & 32) != 0
// path: in[1] > 0
// path: in[1] != 1
// path: (uint32_t)(in[1] - 2) < in[3]
#include <stdio.h>
#include <unistd.h>

static int total;

static int walk(const unsigned char *p, int n, int depth) {
    while (n > 0) {
        if (n < 2 || p[1] > n - 2 || depth > 4)
            return 0;
        int type = p[0], length = p[1];
        if (type & 0x20) {
            if (!walk(p + 2, length, depth + 1))
                return 0;
        } else if (type == 2) {
            for (int i = 0; i < length; i++)
                total += p[2 + i];
        }
        p += 2 + length;
        n -= 2 + length;
    }
    return 1;
}

int main(void) {
    unsigned char in[32];
    long n = read(0, in, sizeof in);
    int ok = walk(in, (int)n, 0);
    printf("%s, %s\n", ok ? "well formed" : "broken", total == 5 ? "five" : "not five");
    return !ok;
}
