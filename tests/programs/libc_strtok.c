// strtok, strtok_r and strsep split the input; empty fields matter only to strsep.
// run
// input: "a,,b=1;c=22"
// stdout: "3 words, 2 values, 3 fields\n"
// exit: 0
// path: length: len <= 22
// path: len >= 1
// path: model: in[0] != '\0'
// path: model: !(in[0] == ',' || in[0] == ';')
// path: model: !(in[0] == '\0' || in[0] == ',' || in[0] == ';')
// path: model: in[1] == '\0' || in[1] == ',' || in[1] == ';'
// path: model: in[1] != '\0'
// path: model: in[0] != '='
// path: model: !(in[0] == '\0' || in[0] == '=')
// path: model: in[2] != '\0'
// path: model: in[2] == ',' || in[2] == ';'
// path: model: !(in[3] == ',' || in[3] == ';')
// path: model: in[3] != '\0'
// path: model: !(in[3] == '\0' || in[3] == ',' || in[3] == ';')
// path: model: !(in[4] == '\0' || in[4] == ',' || in[4] == ';')
// path: model: !(in[5] == '\0' || in[5] == ',' || in[5] == ';')
// path: model: in[6] == '\0' || in[6] == ',' || in[6] == ';'
// path: model: in[6] != '\0'
// path: model: in[3] != '='
// path: model: !(in[3] == '\0' || in[3] == '=')
// path: model: in[4] == '\0' || in[4] == '='
// path: model: in[4] != '\0'
// path: model: in[5] != '\0'
// path: model: in[5] != '='
// path: …
// same: "x,,y=3;z=44"
// other: "a,b,c=1;d=22"
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[24] = {0}, again[24], *save, *rest = again;
    if (read(0, in, 23) < 1)
        return 2;
    memcpy(again, in, sizeof in);
    int words = 0, values = 0, fields = 0;
    for (char *t = strtok_r(in, ",;", &save); t; t = strtok_r(NULL, ",;", &save)) {
        words++;
        char *name = strtok(t, "=");
        if (name && strtok(NULL, "="))
            values++;
    }
    for (char *f; (f = strsep(&rest, ","));)
        fields++;
    printf("%d words, %d values, %d fields\n", words, values, fields);
    return 0;
}
