// A scanner driven by compressed tables as flex writes them: base, check, default, next.
// opt: all
// run
// input: "if x1"
// stdout: "if  id 1\n"
// exit: 0
// path: length: len <= 31
// path: len > 0
// path: check: ec[in[0]] * 2 <= 70
// path: nxt[ec[in[0]]] != 6
// path: len > 1
// path: check: (uint64_t)((int16_t)nxt[ec[in[0]]] * 2) <= 12
// path: check: (uint64_t)((int16_t)base[(int16_t)nxt[ec[in[0]]]] * 2 + 0x… + ec[in[1]] * 2 - 0x…) <= 70
// path: u16le(nxt + ((int16_t)base[(int16_t)nxt[ec[in[0]]]] * 2 + 0x… + ec[in[1]] * 2) - 0x…) != 6
// path: len > 2
// path: check: (uint64_t)((int16_t)u16le(nxt + ((int16_t)base[(int16_t)nxt[ec[in[0]]]] * 2 + 0x… + ec[in[1]] * 2) - 0x…) * 2) <= 12
// path: check: (uint64_t)((int16_t)base[(int16_t)u16le(nxt + ((int16_t)base[(int16_t)nxt[ec[in[0]]]] * 2 + 0x… + ec[in[1]] * 2) - 0x…)] * 2 + 0x… + ec[in[2]] …
// path: u16le(nxt + ((int16_t)base[(int16_t)u16le(nxt + ((int16_t)base[(int16_t)nxt[ec[in[0]]]] * 2 + 0x… + ec[in[1]] * 2) - 0x…)] * 2 + 0x… + ec[in[2]] * 2) …
// path: check: (uint64_t)((int16_t)u16le(nxt + ((int16_t)base[(int16_t)nxt[ec[in[0]]]] * 2 + 0x… + ec[in[1]] * 2) - 0x…) * 8) <= 48
// path: u16le(nxt + ((int16_t)base[(int16_t)nxt[ec[in[0]]]] * 2 + 0x… + ec[in[1]] * 2) - 0x…) == 2
// path: len > 2
// path: check: ec[in[2]] * 2 <= 70
// path: nxt[ec[in[2]]] != 6
// path: len > 3
// path: check: (uint64_t)((int16_t)nxt[ec[in[2]]] * 2) <= 12
// path: check: (uint64_t)((int16_t)base[(int16_t)nxt[ec[in[2]]]] * 2 + 0x… + ec[in[3]] * 2 - 0x…) <= 70
// path: u16le(nxt + ((int16_t)base[(int16_t)nxt[ec[in[2]]]] * 2 + 0x… + ec[in[3]] * 2) - 0x…) == 6
// path: check: (uint64_t)((int16_t)nxt[ec[in[2]]] * 8) <= 48
// path: nxt[ec[in[2]]] != 2
// path: len > 3
// path: …
// same: "if y2"
// other: "of x1"
#include <stdio.h>
#include <unistd.h>

// Classes: 0 other, 1 space, 2 'i', 3 'f', 4 letter, 5 digit.
static unsigned char ec[256];
// States: 0 start, 1 'i', 2 "if", 3 identifier, 4 number, 5 space, 6 stuck.
static const short base[7] = {0, 6, 12, 12, 18, 24, 30};
static const short nxt[36] = {6, 5, 1, 3, 3, 4, 6, 6, 3, 2, 3, 3, 6, 6, 3, 3, 3, 3,
                              6, 6, 6, 6, 6, 4, 6, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6};
static const char *const accept[7] = {"?", "id", "if", "id", "num", "", "?"};

int main(void) {
    for (int c = 'a'; c <= 'z'; c++)
        ec[c] = 4;
    for (int c = '0'; c <= '9'; c++)
        ec[c] = 5;
    ec['i'] = 2, ec['f'] = 3, ec[' '] = 1;
    unsigned char in[33] = {0};
    long n = read(0, in, 32);
    int keywords = 0;
    for (long at = 0; at < n;) {
        int state = 0;
        long from = at;
        for (; at < n; at++) {
            int to = nxt[base[state] + ec[in[at]]];
            if (to == 6)
                break;
            state = to;
        }
        if (at == from)
            return puts("?"), 1;
        printf("%s ", accept[state]);
        if (state == 2)
            keywords++;
    }
    printf("%d\n", keywords);
    return 0;
}
