/* The syntax tree of a script. */
#ifndef AST_H
#define AST_H

#include "lexer.h"

enum kind {
    /* Statements. */
    N_BLOCK,       /* list */
    N_DECLARATION, /* op: var, let or const; list of N_DECLARATOR */
    N_DECLARATOR,  /* text, a: value or none */
    N_EMPTY,
    N_EXPRESSION,  /* a */
    N_IF,          /* a: condition, b, c: else or none */
    N_WHILE,       /* a: condition, b */
    N_DO,          /* a: condition, b */
    N_FOR,         /* a, b, c: the three parts, each or none; d */
    N_FOR_IN,      /* a: N_DECLARATION or a place, b: object, d */
    N_SWITCH,      /* a, list of N_CASE */
    N_CASE,        /* a: value, or none for default; list */
    N_BREAK,       /* text: label or none */
    N_CONTINUE,    /* text: label or none */
    N_LABEL,       /* text, a */
    N_RETURN,      /* a or none */
    N_THROW,       /* a */
    N_TRY,         /* a, text and b: catch or none, c: finally or none */
    N_FUNCTION,    /* text or none, list of N_NAME, a: body; also an expression */
    /* Expressions. */
    N_NAME,        /* text */
    N_NUMBER,      /* number */
    N_STRING,      /* text */
    N_CONSTANT,    /* op: true, false, null or this */
    N_ARRAY,       /* list */
    N_OBJECT,      /* list of N_PROPERTY */
    N_PROPERTY,    /* text, a */
    N_UNARY,       /* op, a */
    N_UPDATE,      /* op: ++ or --, a, number: 1 if it comes before */
    N_BINARY,      /* op, a, b */
    N_ASSIGN,      /* op: the operator, or = ; a, b */
    N_CONDITIONAL, /* a, b, c */
    N_COMMA,       /* a, b */
    N_INDEX,       /* a, b */
    N_CALL,        /* a, list */
    N_NEW,         /* a, list */
};

struct node {
    enum kind kind;
    enum token op;
    int line;
    struct node *a, *b, *c, *d;
    struct node *list; /* the first of a list */
    struct node *next; /* the next in its list */
    const char *text;
    size_t length;
    double number;
};

/* Parses a script; ends the program if the syntax is bad. */
struct node *parse(const char *script, size_t length);

#endif
