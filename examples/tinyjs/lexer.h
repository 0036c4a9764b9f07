/* Tokens, numbered from 0 in this order. */
#ifndef LEXER_H
#define LEXER_H

#include <stddef.h>

#define KEYWORDS(X) \
    X(BREAK, "break") X(CASE, "case") X(CATCH, "catch") X(CONST, "const") \
    X(CONTINUE, "continue") X(DEFAULT, "default") X(DELETE, "delete") X(DO, "do") \
    X(ELSE, "else") X(FALSE, "false") X(FINALLY, "finally") X(FOR, "for") \
    X(FUNCTION, "function") X(IF, "if") X(IN, "in") X(LET, "let") X(NEW, "new") \
    X(NULL, "null") X(RETURN, "return") X(SWITCH, "switch") X(THIS, "this") \
    X(THROW, "throw") X(TRUE, "true") X(TRY, "try") X(TYPEOF, "typeof") X(VAR, "var") \
    X(VOID, "void") X(WHILE, "while")

#define SIGNS(X) \
    X(OPEN_BRACE, "{") X(CLOSE_BRACE, "}") X(OPEN_PAREN, "(") X(CLOSE_PAREN, ")") \
    X(OPEN_BRACKET, "[") X(CLOSE_BRACKET, "]") X(SEMICOLON, ";") X(COMMA, ",") \
    X(DOT, ".") X(COLON, ":") X(QUESTION, "?") X(TILDE, "~") X(BANG, "!") \
    X(LESS, "<") X(MORE, ">") X(LESS_EQUAL, "<=") X(MORE_EQUAL, ">=") X(EQUAL, "==") \
    X(NOT_EQUAL, "!=") X(SAME, "===") X(NOT_SAME, "!==") X(PLUS, "+") X(MINUS, "-") \
    X(STAR, "*") X(SLASH, "/") X(PERCENT, "%") X(INCREMENT, "++") X(DECREMENT, "--") \
    X(SHIFT_LEFT, "<<") X(SHIFT_RIGHT, ">>") X(SHIFT_UNSIGNED, ">>>") X(AND, "&") \
    X(OR, "|") X(XOR, "^") X(BOTH, "&&") X(EITHER, "||") X(ASSIGN, "=") \
    X(ASSIGN_PLUS, "+=") X(ASSIGN_MINUS, "-=") X(ASSIGN_STAR, "*=") X(ASSIGN_SLASH, "/=") \
    X(ASSIGN_PERCENT, "%=") X(ASSIGN_LEFT, "<<=") X(ASSIGN_RIGHT, ">>=") \
    X(ASSIGN_UNSIGNED, ">>>=") X(ASSIGN_AND, "&=") X(ASSIGN_OR, "|=") X(ASSIGN_XOR, "^=")

enum token {
    T_END,
    T_BAD,
    T_IDENTIFIER,
    T_NUMBER,
    T_STRING,
#define NUMBERED(name, text) T_##name,
    KEYWORDS(NUMBERED) SIGNS(NUMBERED)
#undef NUMBERED
    TOKENS,
};

struct lexer {
    const char *at, *end;
    int line;
    /* The text and the value of the last token; the text of a string has no quotes and
       no escapes. */
    const char *text;
    size_t length;
    double number;
};

/* Reads the next token. After the last one it always returns T_END. */
enum token nextToken(struct lexer *lexer);

/* The text of a token, or its name if it has no fixed text. */
const char *token_text(enum token token);

#endif
