// A perfect hash of keywords in gperf's style: sums of table entries select the only candidate for a comparison.
// opt: all
// run
// input: "while"
// stdout: "keyword 5\n"
// exit: 0
// path: length: len <= 7
// path: len >= 2
// path: (int8_t)in[0] >= 'a'
// path: in[0] <= 'z'
// path: check: len - 1 <= 8
// path: pin: len == 5
// path: (int8_t)in[4] >= 'a'
// path: in[4] <= 'z'
// path: value[in[0] - 97] + len + value[in[4] - 97] <= 7
// path: pin: word[value[in[0] - 97] + len + value[in[4] - 97] & 7] == 0x…
// path: length: len <= 5
// path: in[0] == 'w' && in[1] == 'h' && in[2] == 'i' && in[3] == 'l' && in[4] == 'e'
// must: in[2] == 'i'
// other: "whale"
// run
// input: "xy"
// stdout: "identifier\n"
// exit: 0
// path: length: len <= 7
// path: len >= 2
// path: (int8_t)in[0] >= 'a'
// path: in[0] <= 'z'
// path: check: len - 1 <= 8
// path: pin: len == 2
// path: (int8_t)in[1] >= 'a'
// path: in[1] <= 'z'
// path: value[in[0] - 97] + len + value[in[1] - 97] <= 7
// path: pin: word[value[in[0] - 97] + len + value[in[1] - 97] & 7] == 0x…
// path: length: len <= 3
// path: length: len <= 2
// path: (in[0] != 'f' ? in[0] - 'f' : in[1] != 'o' ? in[1] - 'o' : -114) != 0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const word[8] = {"", "do", "for", "", "else", "while", "return", "switch"};
static const unsigned char value[26] = {['d' - 'a'] = 7, ['o' - 'a'] = 0, ['f' - 'a'] = 7, ['r' - 'a'] = 0,
                                        ['e' - 'a'] = 0, ['w' - 'a'] = 0, ['n' - 'a'] = 0, ['s' - 'a'] = 1};

int main(void) {
    char in[9] = {0};
    long n = read(0, in, 8);
    if (n < 2 || in[0] < 'a' || in[0] > 'z' || in[n - 1] < 'a' || in[n - 1] > 'z')
        return puts("no word"), 1;
    unsigned h = (unsigned)n + value[in[0] - 'a'] + value[in[n - 1] - 'a'];
    // "do" and "for" have a hash that is too large.
    if (h >= 8)
        h -= 8;
    h &= 7;
    if (strcmp(in, word[h]) == 0)
        printf("keyword %u\n", h);
    else
        puts("identifier");
    return 0;
}
