%{
/* Names for messages: no table of keywords, for the token comes first. */
static const struct { int token; const char *name; } names[] = {
    {NUMBER, "number"}, {NAME, "name"},
};
%}
%token IF ELSE WHILE FUNC NUMBER NAME BUILTIN LET IN AND STRING
%%
program: statement | program statement ;
statement: IF NAME statement ELSE statement | WHILE NAME statement
  | FUNC NAME '(' ')' | BUILTIN '(' NAME AND NUMBER ')' | LET NAME IN STRING ;
%%
/* Other columns stand before and behind the token, one row is conditional. */
static const struct token words[] = {
    {"and", Op_and, 0},
    {"else", Op_else, ELSE, 0, MPF(x, y)},
#ifdef EXTENSIONS
    {"func", Op_func, FUNC, GAWK | A(1), 0},
#endif
    {"function", Op_func, FUNC, 0, 0},
    {"if", Op_if, IF, 0, 0},
    {"length", Op_builtin, BUILTIN, 0, 0},
    {"while", Op_while, WHILE, 0, 0},
};
