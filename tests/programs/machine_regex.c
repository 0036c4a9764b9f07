// A matcher of small regular expressions (literals, '.', '*', anchors), pattern and text both from the input.
// opt: all
// run
// input: "^a.*c$\nabbc"
// stdout: "match\n"
// exit: 0
// path: length: len <= 15
// path: len >= 1
// path: model: in[0] != '\n'
// path: model: in[0] != '\0'
// path: model: in[1] != '\n'
// path: model: in[1] != '\0'
// path: model: in[2] != '\n'
// path: model: in[2] != '\0'
// path: model: in[3] != '\n'
// path: model: in[3] != '\0'
// path: model: in[4] != '\n'
// path: model: in[4] != '\0'
// path: model: in[5] != '\n'
// path: model: in[5] != '\0'
// path: model: in[6] == '\n'
// path: in[0] == '^'
// path: in[1] != '\0'
// path: in[2] != '*'
// path: in[1] != '$'
// path: in[7] != '\0'
// path: in[1] != '.'
// path: in[1] == in[7]
// path: in[2] != '\0'
// path: in[3] == '*'
// path: …
// same: "^a.*c$\nazzc"
// other: "^a.*c$\nabbd"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int here(const char *re, const char *text);
static int star(char c, const char *re, const char *text) {
    do {
        if (here(re, text))
            return 1;
    } while (*text && (*text++ == c || c == '.'));
    return 0;
}
static int here(const char *re, const char *text) {
    if (!*re)
        return 1;
    if (re[1] == '*')
        return star(*re, re + 2, text);
    if (*re == '$' && !re[1])
        return !*text;
    return *text && (*re == '.' || *re == *text) && here(re + 1, text + 1);
}

int main(void) {
    char in[17] = {0};
    if (read(0, in, 16) < 1)
        return 2;
    char *text = strchr(in, '\n');
    if (!text)
        return puts("no text"), 1;
    *text++ = 0;
    int found = 0;
    if (in[0] == '^')
        found = here(in + 1, text);
    else
        for (const char *t = text; !found && *t; t++)
            found = here(in, t);
    puts(found ? "match" : "no match");
    return !found;
}
