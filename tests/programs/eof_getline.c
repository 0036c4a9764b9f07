// getline and getdelim: growing buffers, another delimiter, the end of the input.
// run
// input: "first line\na;bc;"
// stdout: "starts with f\n20\n"
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
// path: length: len > 10
// path: model: in[10] == '\n'
// path: select: in[0] == 'f'
// path: length: len > 11
// path: …
// same: "f\xfcrst line\na;bc;"
// other: "first line\na;bc"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = NULL;
    size_t size = 0;
    ssize_t n = getline(&line, &size, stdin);
    if (n < 1)
        return 1;
    printf("%s\n", line[0] == 'f' ? "starts with f" : "starts otherwise");
    int fields = 0;
    while ((n = getdelim(&line, &size, ';', stdin)) > 0)
        fields += line[n - 1] == ';' ? 10 : 1;
    printf("%d\n", fields);
    free(line);
    return 0;
}
