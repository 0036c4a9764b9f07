/* SimpleCalc, the calculator of the CESE paper: one expression of letters, digits
   and one-character operators. As in the paper, the grammar defines no precedence. */
%{
#include <stdio.h>

int yylex(void);
static void yyerror(const char *message);

/* The values of the letters from A to z; none is zero. */
static const int values['z' - 'A' + 1] = {
    9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 7, 6, 5, 4, 3, 2,
    0, 0, 0, 0, 0, 0, /* between Z and a */
    1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8,
};
%}

%define api.value.type {int}
%token LETTER DIGIT
/* A character that no expression contains. */
%token BAD
/* Conflicts: each of seven operators after each of seven, and after the sign. */
%expect 56

%%

line: e             { printf("%d\n", $1); }
    ;

e: '(' e ')'        { $$ = $2; }
 | e '*' e          { $$ = $1 * $3; }
 | e '/' e          { $$ = $1 / $3; }
 | e '%' e          { $$ = $1 % $3; }
 | e '+' e          { $$ = $1 + $3; }
 | e '-' e          { $$ = $1 - $3; }
 | e '|' e          { $$ = $1 | $3; }
 | e '&' e          { $$ = $1 & $3; }
 | '-' e            { $$ = -$2; }
 | LETTER           { $$ = values[$1 - 'A']; }
 | DIGIT            { $$ = $1; }
 ;

%%

static void yyerror(const char *message)
{
    fprintf(stderr, "simplecalc: %s\n", message);
}

int main(void)
{
    return yyparse();
}
