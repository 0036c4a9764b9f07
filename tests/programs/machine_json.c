// A small JSON checker by recursive descent.
// opt: all
// run
// input: "{\"a\":[1,true,\"x\"]}"
// stdout: "valid at 18\n"
// exit: 0
// path: length: len <= 63
// path: len >= 0
// path: in[0] != '"'
// path: in[0] != 't'
// path: in[0] != 'n'
// path: (int8_t)in[0] > '/'
// path: in[0] >= ':'
// path: select: in[0] == '{'
// path: in[0] == '{'
// path: in[1] != '}'
// path: in[1] == '"'
// path: in[2] != '\0'
// path: in[2] != '"'
// path: in[2] != '\\'
// path: in[3] != '\0'
// path: in[3] == '"'
// path: in[4] == ':'
// path: in[5] != '"'
// path: in[5] != 't'
// path: in[5] != 'n'
// path: (int8_t)in[5] > '/'
// path: in[5] >= ':'
// path: select: in[5] != '{'
// path: in[5] != '{'
// path: …
// same: "{\"b\":[2,true,\"y\"]}"
// other: "{\"a\":[1,tree,\"x\"]}"
// run
// input: "[1,]"
// stdout: "invalid at 3\n"
// exit: 1
// path: length: len <= 63
// path: len >= 0
// path: in[0] != '"'
// path: in[0] != 't'
// path: in[0] != 'n'
// path: (int8_t)in[0] > '/'
// path: in[0] >= ':'
// path: select: in[0] != '{'
// path: in[0] != '{'
// path: in[0] == '['
// path: in[1] != ']'
// path: in[1] != '"'
// path: in[1] != 't'
// path: in[1] != 'n'
// path: (int8_t)in[1] > '/'
// path: in[1] < ':'
// path: in[1] < ':'
// path: (int8_t)in[2] <= '/'
// path: in[2] != ']'
// path: in[2] == ','
// path: in[3] != '"'
// path: in[3] != 't'
// path: in[3] != 'n'
// path: (int8_t)in[3] > '/'
// path: …
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char in[65];
static const char *p;

static int literal(const char *word) {
    size_t n = strlen(word);
    if (strncmp(p, word, n))
        return 0;
    p += n;
    return 1;
}
static int string(void) {
    if (*p++ != '"')
        return 0;
    while (*p && *p != '"')
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p++ == '"' ? 1 : (p--, 0);
}
static int value(int depth) {
    if (depth > 8)
        return 0;
    if (*p == '"')
        return string();
    if (*p == 't')
        return literal("true");
    if (*p == 'n')
        return literal("null");
    if (*p >= '0' && *p <= '9') {
        while (*p >= '0' && *p <= '9')
            p++;
        return 1;
    }
    char open = *p, close = open == '{' ? '}' : ']';
    if (open != '{' && open != '[')
        return 0;
    if (*++p == close)
        return p++, 1;
    for (;; p++) {
        if (open == '{' && (!string() || *p++ != ':'))
            return 0;
        if (!value(depth + 1))
            return 0;
        if (*p == close)
            return p++, 1;
        if (*p != ',')
            return 0;
    }
}

int main(void) {
    if (read(0, in, 64) < 0)
        return 2;
    p = in;
    int ok = value(0) && *p == 0;
    printf("%s at %d\n", ok ? "valid" : "invalid", (int)(p - in));
    return !ok;
}
