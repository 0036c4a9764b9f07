/* Cue sheets: the contents of a disc, and where each track starts. */
%{
#include "cue.h"
#include <stdio.h>
#include <stdlib.h>

int yylex(void);
static void yyerror(const char *message);
%}

%union {
    char *text;
    long number;
}
%token CATALOG CDTEXTFILE FLAGS FILE_ INDEX ISRC PERFORMER POSTGAP PREGAP SONGWRITER TITLE TRACK
%token REM EOL
/* A character that no sheet contains. */
%token BAD
%token AUDIO CDG MODE1_2048 MODE1_2352 MODE2_2336 MODE2_2352
%token BINARY MOTOROLA AIFF WAVE MP3
%token PRE DCP FOUR_CH SCMS
%token <text> STRING WORD
%token <number> NUMBER TIME
%type <text> text
%type <number> mode flag flags
%destructor { free($$); } <text>

%%

sheet: disc files                       { finish_sheet(); }
     ;

disc: /* nothing known */
    | disc disc_line EOL
    ;

disc_line: CATALOG NUMBER               { set_catalog($2); }
         | CDTEXTFILE text              { free($2); }
         | about
         ;

about: TITLE text                       { set_title($2); free($2); }
     | PERFORMER text                   { set_performer($2); free($2); }
     | SONGWRITER text                  { free($2); }
     | REM
     | /* an empty line */
     ;

files: file
     | files file
     ;

file: file_line tracks
    ;

file_line: FILE_ text file_type EOL     { begin_file($2); free($2); }
         ;

file_type: BINARY | MOTOROLA | AIFF | WAVE | MP3
         ;

tracks: track
      | tracks track
      ;

track: TRACK NUMBER mode EOL            { begin_track($2, $3); }
       track_lines
     ;

mode: AUDIO                             { $$ = 1; }
    | CDG                               { $$ = 0; }
    | MODE1_2048                        { $$ = 0; }
    | MODE1_2352                        { $$ = 0; }
    | MODE2_2336                        { $$ = 0; }
    | MODE2_2352                        { $$ = 0; }
    ;

track_lines: /* none */
           | track_lines track_line EOL
           ;

track_line: about
          | ISRC text                   { set_isrc($2); free($2); }
          | FLAGS flags                 { set_flags($2); }
          | PREGAP TIME                 { set_pregap($2); }
          | INDEX NUMBER TIME           { set_index($2, $3); }
          | POSTGAP TIME                { set_postgap($2); }
          ;

flags: flag                             { $$ = $1; }
     | flags flag                       { $$ = $1 | $2; }
     ;

flag: PRE                               { $$ = FLAG_PRE; }
    | DCP                               { $$ = FLAG_DCP; }
    | FOUR_CH                           { $$ = FLAG_4CH; }
    | SCMS                              { $$ = FLAG_SCMS; }
    ;

text: STRING | WORD
    ;

%%

static void yyerror(const char *message)
{
    fprintf(stderr, "cue: line %d: %s\n", line, message);
}

/* Status 1 means bad syntax, 2 a semantic error. */
int main(void)
{
    if (yyparse() != 0)
        return 1;
    print_sheet();
    return complaints > 0 ? 2 : 0;
}
