// strlen, strnlen, strchr, strrchr, strchrnul, strstr, strcasestr, index on labelled text.
// run
// input: "/usr/Share/man.1"
// stdout: "16 8\n10 14\nunder usr\nshared\nnot home\nm after the slash\n"
// exit: 0
// path: length: len <= 30
// path: len >= 1
// path: model: in[0] == '/'
// path: model: in[1] != '/'
// path: model: in[1] != '\0'
// path: model: in[2] != '/'
// path: model: in[2] != '\0'
// path: model: in[3] != '/'
// path: model: in[3] != '\0'
// path: model: in[4] == '/'
// path: model: in[5] != '/'
// path: model: in[5] != '\0'
// path: model: in[6] != '/'
// path: model: in[6] != '\0'
// path: model: in[7] != '/'
// path: model: in[7] != '\0'
// path: model: in[8] != '/'
// path: model: in[8] != '\0'
// path: model: in[9] != '/'
// path: model: in[9] != '\0'
// path: model: in[10] == '/'
// path: model: in[11] != '/'
// path: model: in[11] != '\0'
// path: model: in[12] != '/'
// path: …
// same: "/usr/shArE/men.2"
// other: "/usr/shore/man.1"
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int main(void) {
    char in[32] = {0};
    if (read(0, in, 31) < 1)
        return 2;
    const char *base = strrchr(in, '/'), *dot = strchrnul(in, '.');
    if (!base)
        return puts("no path"), 1;
    printf("%zu %zu\n", strlen(in), strnlen(in, 8));
    printf("%d %d\n", (int)(base - in), (int)(dot - in));
    puts(strstr(in, "usr") ? "under usr" : "elsewhere");
    puts(strcasestr(in, "SHARE") ? "shared" : "not shared");
    puts(strchr(in, '~') ? "home" : "not home");
    puts(index(base, 'm') == base + 1 ? "m after the slash" : "no m there");
    return 0;
}
