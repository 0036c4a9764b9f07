// Lines longer than the stream's buffer, by fgets in pieces and by getline.
// run
// input: "0123456789abcdef\nshort\n"
// stdout: "16 6\n"
// exit: 0
// path: length: len > 0
// path: model: in[0] != '\n'
// path: length: len > 1
// path: model: in[1] != '\n'
// path: length: len > 2
// path: model: in[2] != '\n'
// path: length: len > 3
// path: model: in[3] != '\n'
// path: length: len > 4
// path: model: in[4] != '\n'
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] != '\0'
// path: model: in[3] != '\0'
// path: model: in[4] != '\0'
// path: in[4] != '\n'
// path: length: len > 5
// path: model: in[5] != '\n'
// path: length: len > 6
// path: model: in[6] != '\n'
// path: length: len > 7
// path: model: in[7] != '\n'
// path: length: len > 8
// path: model: in[8] != '\n'
// path: …
// must: in[16] == '\n'
// other: "0123456789abcde\nshort\n"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    static char small[8];
    char piece[6], *line = NULL;
    size_t room = 0, first = 0;
    setvbuf(stdin, small, _IOFBF, sizeof small);
    while (fgets(piece, sizeof piece, stdin)) {
        size_t n = strlen(piece);
        if (n && piece[n - 1] == '\n') {
            first += n - 1;
            break;
        }
        first += n;
    }
    long second = getline(&line, &room, stdin);
    printf("%zu %ld\n", first, second);
    free(line);
    return 0;
}
