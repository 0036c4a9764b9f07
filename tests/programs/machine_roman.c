// Roman numerals: a switch for the values, and the previous value for subtraction.
// opt: all
// run
// input: "MCMXCIX"
// stdout: "1999\n"
// exit: 0
// path: length: len <= 15
// path: (int64_t)(len - 1) > -1
// path: check: len - 1 <= 15
// path: pin: len == 7
// path: switch: in[6] == 'X'
// path: (int64_t)(len - 1) > 0
// path: switch: in[5] == 'I'
// path: (int64_t)(len - 2) > 0
// path: switch: in[4] == 'C'
// path: (int64_t)(len - 3) > 0
// path: switch: in[3] == 'X'
// path: (int64_t)(len - 4) > 0
// path: switch: in[2] == 'M'
// path: (int64_t)(len - 5) > 0
// path: check: len - 6 <= 15
// path: switch: table_…[len - 6] == 67
// path: (int64_t)(len - 6) > 0
// path: switch: table_…[len - 7] == 77
// path: (int64_t)(len - 7) <= 0
// other: "MCMXCXI"
// run
// input: "IQ"
// stdout: "not Roman\n"
// exit: 1
// path: length: len <= 15
// path: (int64_t)(len - 1) > -1
// path: check: len - 1 <= 15
// path: pin: len == 2
// path: switch: in[1] != 'I' && in[1] != 'V' && in[1] != 'X' && in[1] != 'L' && …
#include <stdio.h>
#include <unistd.h>

static int value(char c) {
    switch (c) {
    case 'I': return 1;
    case 'V': return 5;
    case 'X': return 10;
    case 'L': return 50;
    case 'C': return 100;
    case 'D': return 500;
    case 'M': return 1000;
    default: return 0;
    }
}

int main(void) {
    char in[16];
    long n = read(0, in, sizeof in);
    int total = 0, last = 0;
    for (long i = n - 1; i >= 0; i--) {
        int v = value(in[i]);
        if (v == 0)
            return puts("not Roman"), 1;
        total += v < last ? -v : v;
        last = v;
    }
    puts(total == 1999 ? "1999" : total > 1000 ? "more than a thousand" : "less");
    return 0;
}
