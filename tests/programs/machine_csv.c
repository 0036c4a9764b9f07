// CSV with quoted fields and doubled quotes.
// opt: all
// run
// input: "a,\"b\"\"c\",\nd\n"
// stdout: "2 rows, 2 commas, 1 quotes\n"
// exit: 0
// path: length: len > 0
// path: switch: in[0] != '"' && in[0] != ',' && in[0] != '\n'
// path: length: len > 1
// path: switch: in[1] == ','
// path: length: len > 2
// path: switch: in[2] == '"'
// path: length: len > 3
// path: in[3] != '"'
// path: length: len > 4
// path: in[4] == '"'
// path: length: len > 5
// path: in[5] == '"'
// path: length: len > 6
// path: in[6] != '"'
// path: length: len > 7
// path: in[7] == '"'
// path: length: len > 8
// path: in[8] != '"'
// path: switch: in[8] == ','
// path: length: len > 9
// path: switch: in[9] == '\n'
// path: length: len > 10
// path: switch: in[10] != '"' && in[10] != ',' && in[10] != '\n'
// path: length: len > 11
// path: …
// same: "x,\"y\"\"z\",\nw\n"
// other: "a,\"b\"c\",\nd\n"
#include <stdio.h>

int main(void) {
    int rows = 0, fields = 1, quoted = 0, quotes = 0, c;
    while ((c = getchar()) != EOF) {
        if (quoted) {
            if (c != '"')
                continue;
            c = getchar();
            if (c == '"') {
                quotes++;
                continue;
            }
            quoted = 0;
            if (c == EOF)
                break;
        }
        switch (c) {
        case '"': quoted = 1; break;
        case ',': fields++; break;
        case '\n': rows++; break;
        }
    }
    printf("%d rows, %d commas, %d quotes%s\n", rows, fields - 1, quotes, quoted ? ", open" : "");
    return quoted;
}
