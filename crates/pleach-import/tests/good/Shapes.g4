/** A combined grammar. */
grammar Shapes;
options { language = Java; }
@header { package shapes; // }
}
@parser::members { boolean on() { return "}".isEmpty(); } }
tokens { INDENT, DEDENT }
file : shape* EOF ;
shape returns [int size] locals [int n = 0]
@init { n = 1; }
    : 'circle' '(' r=expr ')'           # circle
    | KW_SQUARE '(' args+=expr (',' args+=expr)? ')' # square
    | {on()}? 'group' ('{' | INDENT) shape+ ('}' | DEDENT) {n++;} # group
    | ~('circle' | ';') .  # other
    ;
    catch [Exception e] { report(e); }
expr : <assoc=right> expr '^' expr
     | expr ('*' | '/') expr
     | expr '+' expr
     | '-' expr
     | NUMBER
     | STRING
     | ID[3]
     ;
KW_SQUARE : 'square' ;
NUMBER : DIGIT+ ('.' DIGIT*)? EXP? | '.' DIGIT+ ;
fragment DIGIT : [0-9] ;
fragment EXP options { caseInsensitive = true; } : 'e' [+\-]? DIGIT+ ;
ID : [\p{Lu}a-z_] ~[ \t\r\n()\]]* ;
STRING : '"' ('\\' . | ~["\\])*? '"' | '\'' ('a'..'z' | '\u00e9' | '\u{1F600}')* '\'' ;
COMMENT : '/*' .*? '*/' -> skip ;
NESTED : '{-' (NESTED | .)*? '-}' -> channel(HIDDEN) ;
LINE : '//' ~[\r\n]* ('\r'? '\n' | EOF) -> channel(1) ;
WS : [ \t\r\n]+ -> skip ;
