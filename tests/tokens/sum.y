%{
#include <stdio.h>
int yylex(void);
static void yyerror(const char *s) { (void)s; }
%}
%token NUMBER LET NAME
%left '+' '-'
%%
input: %empty | input line ';' ;
line: LET NAME '=' expr | expr { if ($1 == 42) puts("answer"); } ;
expr: NUMBER | NAME { $$ = 0; } | expr '+' expr { $$ = $1 + $3; } | expr '-' expr { $$ = $1 - $3; } ;
%%
int main(void) { return yyparse(); }
