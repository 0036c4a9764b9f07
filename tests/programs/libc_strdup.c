// strdup and strndup: heap copies with their labels.
// run
// input: "copyright"
// stdout: "c kept\ncopy\n"
// exit: 0
// path: length: len <= 14
// path: len >= 1
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] != '\0'
// path: model: in[3] != '\0'
// path: model: in[4] != '\0'
// path: model: in[5] != '\0'
// path: model: in[6] != '\0'
// path: model: in[7] != '\0'
// path: model: in[8] != '\0'
// path: length: len <= 9
// path: select: in[0] == 'c'
// path: select: in[0] == 'c' && in[1] == 'o' && in[2] == 'p' && in[3] == 'y'
// must: in[0] == 'c'
// other: "kopyright"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[16] = {0};
    if (read(0, in, 15) < 1)
        return 2;
    char *whole = strdup(in), *part = strndup(in, 4);
    in[0] = '#';
    puts(whole[0] == 'c' ? "c kept" : "not c");
    puts(strcmp(part, "copy") == 0 ? "copy" : "not copy");
    free(whole);
    free(part);
    return 0;
}
