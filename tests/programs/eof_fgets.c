// fgets: lines, a last line without newline, and a line longer than the buffer.
// run
// input: "ab\nlonger than eight\nx"
// stdout: "5 pieces, 2 lines\n"
// exit: 0
// path: length: len > 0
// path: model: in[0] != '\n'
// path: length: len > 1
// path: model: in[1] != '\n'
// path: length: len > 2
// path: model: in[2] == '\n'
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] != '\0'
// path: in[2] == '\n'
// path: length: len > 3
// path: model: in[3] != '\n'
// path: length: len > 4
// path: model: in[4] != '\n'
// path: length: len > 5
// path: model: in[5] != '\n'
// path: length: len > 6
// path: model: in[6] != '\n'
// path: length: len > 7
// path: model: in[7] != '\n'
// path: length: len > 8
// path: model: in[8] != '\n'
// path: length: len > 9
// path: model: in[9] != '\n'
// path: …
// same: "cd\nlanger then eight\ny"
// other: "ab\nlonger\nthan eight\nx"
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[8];
    int pieces = 0, lines = 0;
    while (fgets(line, sizeof line, stdin)) {
        pieces++;
        size_t n = strlen(line);
        if (n && line[n - 1] == '\n')
            lines++;
    }
    printf("%d pieces, %d lines\n", pieces, lines);
    return 0;
}
