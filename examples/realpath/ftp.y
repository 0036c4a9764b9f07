/* Commands of an FTP-like server, one on each line. */
%{
#include "ftp.h"
#include <stdio.h>
#include <stdlib.h>

int yylex(void);
static void yyerror(const char *message);
%}

%union {
    char *name;
}
%token CWD RETR STOR DELE MKD RMD LIST SIZE USER PWD NOOP QUIT EOL
/* A character that no command contains. */
%token BAD
%token <name> NAME
%destructor { free($$); } <name>

%%

session: lines end
       ;

lines: /* none */
     | lines line
     ;

line: CWD ' ' NAME EOL      { change_directory($3); free($3); }
    | RETR ' ' NAME EOL     { on_path("retrieve", $3); free($3); }
    | STOR ' ' NAME EOL     { on_path("store", $3); free($3); }
    | DELE ' ' NAME EOL     { on_path("delete", $3); free($3); }
    | MKD ' ' NAME EOL      { on_path("make", $3); free($3); }
    | RMD ' ' NAME EOL      { on_path("remove", $3); free($3); }
    | LIST ' ' NAME EOL     { on_path("list", $3); free($3); }
    | SIZE ' ' NAME EOL     { on_path("measure", $3); free($3); }
    | USER ' ' NAME EOL     { printf("230 welcome, %s\n", $3); free($3); }
    | PWD EOL               { print_directory(); }
    | NOOP EOL              { puts("200 nothing done"); }
    ;

end: /* the connection was closed */
   | QUIT EOL               { puts("221 goodbye"); }
   ;

%%

static void yyerror(const char *message)
{
    printf("500 %s\n", message);
}

int main(void)
{
    return yyparse();
}
