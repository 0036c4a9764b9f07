// The grammar of tinyjs scripts. It derives exactly what the parser accepts. It does not
// define the precedence of operators, which does not change the language. Tokens are
// those of the lexer, written as in scripts.
grammar tinyjs;

script : item* EOF ;

item : ('let' | 'const') declarator (',' declarator)* ';'
     | 'function' IDENTIFIER parameters block
     | statement
     ;

statement : block
          | ';'
          | 'var' declarator (',' declarator)* ';'
          | 'if' '(' expression ')' statement ('else' statement)?
          | 'while' '(' expression ')' statement
          | 'do' statement 'while' '(' expression ')' ';'
          | 'for' '(' first? ';' expression? ';' expression? ')' statement
          | 'for' '(' ('var' | 'let' | 'const') IDENTIFIER 'in' expression ')' statement
          | 'for' '(' left 'in' expression ')' statement
          | 'switch' '(' expression ')' '{' switchCase* '}'
          | 'break' IDENTIFIER? ';'
          | 'continue' IDENTIFIER? ';'
          | 'return' expression? ';'
          | 'throw' expression ';'
          | 'try' block (handler finalizer? | finalizer)
          | IDENTIFIER ':' statement
          | expressionFirst ';'
          ;

block : '{' item* '}' ;

declarator : IDENTIFIER ('=' assignment)? ;

parameters : '(' (IDENTIFIER (',' IDENTIFIER)*)? ')' ;

first : ('var' | 'let' | 'const') declarator (',' declarator)*
      | expression
      ;

switchCase : ('case' expression | 'default') ':' item* ;

handler : 'catch' '(' IDENTIFIER ')' block ;

finalizer : 'finally' block ;

expression : assignment (',' assignment)* ;

assignment : left assignOperator assignment | conditional ;

conditional : binary ('?' assignment ':' assignment)? ;

binary : unary (binaryOperator unary)* ;

unary : prefix unary | ('++' | '--') left | postfix ;

postfix : left ('++' | '--')? ;

left : 'new'* primary suffix* ;

primary : simple
        | '{' (property (',' property)*)? '}'
        | 'function' IDENTIFIER? parameters block
        ;

// Expressions that start with neither a brace nor `function`: a statement that starts
// with a brace is a block, and one that starts with `function` is a declaration.
expressionFirst : assignmentFirst (',' assignment)* ;

assignmentFirst : leftFirst assignOperator assignment | conditionalFirst ;

conditionalFirst : binaryFirst ('?' assignment ':' assignment)? ;

binaryFirst : unaryFirst (binaryOperator unary)* ;

unaryFirst : prefix unary | ('++' | '--') left | postfixFirst ;

postfixFirst : leftFirst ('++' | '--')? ;

leftFirst : simple suffix* | 'new'+ primary suffix* ;

simple : IDENTIFIER
       | NUMBER
       | STRING
       | 'true'
       | 'false'
       | 'null'
       | 'this'
       | '(' expression ')'
       | '[' (assignment (',' assignment)*)? ']'
       ;

suffix : '.' IDENTIFIER
       | '[' expression ']'
       | '(' (assignment (',' assignment)*)? ')'
       ;

property : (IDENTIFIER | STRING | NUMBER) ':' assignment ;

prefix : 'delete' | 'typeof' | 'void' | '+' | '-' | '!' | '~' ;

binaryOperator : '||' | '&&' | '|' | '^' | '&' | '==' | '!=' | '===' | '!==' | '<' | '>'
               | '<=' | '>=' | '<<' | '>>' | '>>>' | '+' | '-' | '*' | '/' | '%'
               ;

assignOperator : '=' | '+=' | '-=' | '*=' | '/=' | '%=' | '<<=' | '>>=' | '>>>=' | '&='
               | '|=' | '^='
               ;

IDENTIFIER : [a-zA-Z_$] [a-zA-Z0-9_$]* ;

NUMBER : [0-9]+ ('.' [0-9]+)? ([eE] [+-]? [0-9]+)?
       | '0x' [0-9a-fA-F]+
       ;

STRING : '"' ([ !#-[\]-~] | '\\' [ -~])* '"'
       | '\'' ([ -&(-[\]-~] | '\\' [ -~])* '\''
       ;

BLANKS : [ \t\r\n]+ -> skip ;

COMMENT : '/*' .*? '*/' -> skip ;

LINE_COMMENT : '//' ~[\n]* -> skip ;
