/* A hand-written lexer. It takes the longest token at the current position. */
#include "lexer.h"
#include "base.h"
#include <stdlib.h>
#include <string.h>

/* Keywords are found by hash, with linear probing. */
#define SLOTS 64

static struct keyword {
    const char *text;
    size_t length;
    enum token token;
} keywords[SLOTS];

static const char *const texts[TOKENS] = {
    "the end", "a character that no script has", "a name", "a number", "a string",
#define TEXT(name, text) text,
    KEYWORDS(TEXT) SIGNS(TEXT)
#undef TEXT
};

const char *token_text(enum token token)
{
    return texts[token];
}

static void fill_keywords(void)
{
    for (int token = T_BREAK; token <= T_WHILE; token++) {
        size_t length = strlen(texts[token]);
        unsigned slot = hash_text(texts[token], length) % SLOTS;
        while (keywords[slot].text != NULL)
            slot = (slot + 1) % SLOTS;
        keywords[slot] = (struct keyword){texts[token], length, token};
    }
}

static enum token keyword_or_name(const char *text, size_t length)
{
    static int filled;
    if (!filled) {
        fill_keywords();
        filled = 1;
    }
    unsigned slot = hash_text(text, length) % SLOTS;
    for (; keywords[slot].text != NULL; slot = (slot + 1) % SLOTS)
        if (keywords[slot].length == length && memcmp(keywords[slot].text, text, length) == 0)
            return keywords[slot].token;
    return T_IDENTIFIER;
}

static int is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int is_hex(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int starts_name(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/* The character `n` positions ahead; 0 after the end, which no token contains. */
static int ahead(const struct lexer *lexer, ptrdiff_t n)
{
    return n < lexer->end - lexer->at ? (unsigned char)lexer->at[n] : 0;
}

static int take(struct lexer *lexer, int c)
{
    if (ahead(lexer, 0) != c)
        return 0;
    lexer->at++;
    return 1;
}

/* Skips blanks and comments. A comment without an end is not a comment. */
static void skip_blanks(struct lexer *lexer)
{
    for (;;) {
        int c = ahead(lexer, 0);
        if (c == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lexer->at++;
        } else if (c == '/' && ahead(lexer, 1) == '/') {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else if (c == '/' && ahead(lexer, 1) == '*') {
            const char *p = lexer->at + 2;
            int lines = 0;
            while (lexer->end - p >= 2 && !(p[0] == '*' && p[1] == '/'))
                lines += *p++ == '\n';
            if (lexer->end - p < 2)
                return;
            lexer->line += lines;
            lexer->at = p + 2;
        } else {
            return;
        }
    }
}

static enum token number(struct lexer *lexer)
{
    const char *start = lexer->at;

    if (ahead(lexer, 0) == '0' && ahead(lexer, 1) == 'x' && is_hex(ahead(lexer, 2))) {
        lexer->number = 0;
        for (lexer->at += 2; is_hex(ahead(lexer, 0)); lexer->at++) {
            int c = *lexer->at;
            lexer->number = lexer->number * 16 + (is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
        }
        return T_NUMBER;
    }
    while (is_digit(ahead(lexer, 0)))
        lexer->at++;
    if (ahead(lexer, 0) == '.' && is_digit(ahead(lexer, 1))) {
        lexer->at++;
        while (is_digit(ahead(lexer, 0)))
            lexer->at++;
    }
    if ((ahead(lexer, 0) | 32) == 'e') {
        int sign = ahead(lexer, 1) == '+' || ahead(lexer, 1) == '-';
        if (is_digit(ahead(lexer, 1 + sign))) {
            lexer->at += 1 + sign;
            while (is_digit(ahead(lexer, 0)))
                lexer->at++;
        }
    }
    lexer->number = strtod(copy_text(start, lexer->at - start), NULL);
    return T_NUMBER;
}

static char escaped(int c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'v': return '\v';
    case '0': return '\0';
    default: return (char)c;
    }
}

/* Reads a string: printable characters between two equal quotes. */
static enum token string(struct lexer *lexer)
{
    int quote = *lexer->at;
    const char *p = lexer->at + 1;

    while (p < lexer->end && *p != quote && *p >= ' ' && *p <= '~') {
        if (*p == '\\' && ++p < lexer->end && (*p < ' ' || *p > '~'))
            break;
        p++;
    }
    if (p >= lexer->end || *p != quote) {
        lexer->at++;
        return T_BAD;
    }
    char *text = copy_text(lexer->at + 1, p - lexer->at - 1);
    size_t length = 0;
    for (const char *from = lexer->at + 1; from < p; from++)
        text[length++] = *from == '\\' ? escaped(*++from) : *from;
    text[length] = '\0';
    lexer->text = text;
    lexer->length = length;
    lexer->at = p + 1;
    return T_STRING;
}

/* Reads an operator that may be followed by an equals sign. */
static enum token or_assign(struct lexer *lexer, enum token plain, enum token assign)
{
    return take(lexer, '=') ? assign : plain;
}

static enum token more_than(struct lexer *lexer)
{
    if (!take(lexer, '>'))
        return or_assign(lexer, T_MORE, T_MORE_EQUAL);
    if (!take(lexer, '>'))
        return or_assign(lexer, T_SHIFT_RIGHT, T_ASSIGN_RIGHT);
    return or_assign(lexer, T_SHIFT_UNSIGNED, T_ASSIGN_UNSIGNED);
}

static enum token sign(struct lexer *lexer)
{
    switch (*lexer->at++) {
    case '{': return T_OPEN_BRACE;
    case '}': return T_CLOSE_BRACE;
    case '(': return T_OPEN_PAREN;
    case ')': return T_CLOSE_PAREN;
    case '[': return T_OPEN_BRACKET;
    case ']': return T_CLOSE_BRACKET;
    case ';': return T_SEMICOLON;
    case ',': return T_COMMA;
    case '.': return T_DOT;
    case ':': return T_COLON;
    case '?': return T_QUESTION;
    case '~': return T_TILDE;
    case '*': return or_assign(lexer, T_STAR, T_ASSIGN_STAR);
    case '/': return or_assign(lexer, T_SLASH, T_ASSIGN_SLASH);
    case '%': return or_assign(lexer, T_PERCENT, T_ASSIGN_PERCENT);
    case '^': return or_assign(lexer, T_XOR, T_ASSIGN_XOR);
    case '+': return take(lexer, '+') ? T_INCREMENT : or_assign(lexer, T_PLUS, T_ASSIGN_PLUS);
    case '-': return take(lexer, '-') ? T_DECREMENT : or_assign(lexer, T_MINUS, T_ASSIGN_MINUS);
    case '&': return take(lexer, '&') ? T_BOTH : or_assign(lexer, T_AND, T_ASSIGN_AND);
    case '|': return take(lexer, '|') ? T_EITHER : or_assign(lexer, T_OR, T_ASSIGN_OR);
    case '<':
        if (take(lexer, '<'))
            return or_assign(lexer, T_SHIFT_LEFT, T_ASSIGN_LEFT);
        return or_assign(lexer, T_LESS, T_LESS_EQUAL);
    case '>': return more_than(lexer);
    case '=':
        if (take(lexer, '='))
            return or_assign(lexer, T_EQUAL, T_SAME);
        return T_ASSIGN;
    case '!':
        if (take(lexer, '='))
            return or_assign(lexer, T_NOT_EQUAL, T_NOT_SAME);
        return T_BANG;
    default: return T_BAD;
    }
}

enum token nextToken(struct lexer *lexer)
{
    skip_blanks(lexer);
    if (lexer->at >= lexer->end)
        return T_END;
    int c = (unsigned char)*lexer->at;
    if (starts_name(c)) {
        const char *start = lexer->at;
        while (starts_name(ahead(lexer, 0)) || is_digit(ahead(lexer, 0)))
            lexer->at++;
        lexer->length = lexer->at - start;
        lexer->text = copy_text(start, lexer->length);
        return keyword_or_name(lexer->text, lexer->length);
    }
    if (is_digit(c))
        return number(lexer);
    if (c == '"' || c == '\'')
        return string(lexer);
    return sign(lexer);
}
