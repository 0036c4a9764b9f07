%{
/* A brace in a comment, a string and a character: } "}" '}' */
#include <stdio.h>
static const char *text = "%} is not the end" "}";
%}
%require "3.0"
%define api.pure full
%define parse.error verbose
%code requires { struct node { int kind; }; }
%union { int number; char *name; }
%token END 0 "end of file"
%token <number> NUMBER 300 "number"
%token <name> NAME
%token PLUS "+" MINUS "-"
%token IF "if" ELSE "else"
%type <number> expr statement
%destructor { free($$); } <name>
%printer { fprintf(yyo, "}"); } <*>
%wobble strange "words"
%nonassoc NO_ELSE
%nonassoc ELSE
%left PLUS MINUS
%nonassoc PRINT
%left '*' '/'
%precedence UNARY
%right '^'
%start program
@EXTRA_DECLARATIONS@
%%
program: statements END ;
statements
    : %empty
    | statements[list] statement ';' { $$ = $list; }
    | statements error ';' { yyerrok; }
    ;
statement: expr
    | NAME { remember($1); } '=' expr[value] { assign($1, $value); }
    | IF '(' expr ')' statement %prec NO_ELSE
    | IF '(' expr ')' statement ELSE statement
#ifdef WITH_PRINT
    | PRINT expr
#else
    | 'p' expr
#endif
#if 0
    | nothing at all
#endif
/* no semicolon before the next rule */
expr: NUMBER | NAME
    | expr "+" expr { if ($3) { $$ = '}'; } }
    | expr MINUS expr
    | expr '*' expr | expr '/' expr | expr '^' expr
    | MINUS expr %prec UNARY
    | '(' expr ')'
    | '\n' '\'' '\x41' '\101' expr %dprec 2 %merge <both>
    ;
%token PRINT MINUS;
%%
int main(void) { return yyparse(); }
"an unclosed quote and {{{ are nobody's business here
