// fread with a short count: it returns complete records only, and leaves the rest.
// run
// input: "aaabbbcc"
// stdout: "2 whole, at the end\na b record\n"
// exit: 2
// path: length: len <= 23
// path: len / 3 != 0
// path: in[0] != 'b'
// path: len / 3 > 1
// path: in[3] == 'b'
// path: len / 3 <= 2
// same: "xxxbyyzz"
// other: "aaabbbccc"
#include <stdio.h>

int main(void) {
    char record[8][3];
    size_t n = fread(record, 3, 8, stdin);
    printf("%zu whole%s\n", n, feof(stdin) ? ", at the end" : "");
    for (size_t i = 0; i < n; i++)
        if (record[i][0] == 'b')
            puts("a b record");
    return (int)n;
}
