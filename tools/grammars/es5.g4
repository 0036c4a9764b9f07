// Scripts of ECMAScript 5, as far as programs read them alike: semicolons are written,
// and how operators bind is left to the parser. For ./x bench grammar-run.
grammar es5;

script : item* EOF ;

item : 'function' IDENTIFIER parameters body | statement ;

body : '{' item* '}' ;

parameters : '(' (IDENTIFIER (',' IDENTIFIER)*)? ')' ;

block : '{' statement* '}' ;

statement : block
          | ';'
          | 'var' declarator (',' declarator)* ';'
          | 'if' '(' expression ')' statement ('else' statement)?
          | 'while' '(' expression ')' statement
          | 'do' statement 'while' '(' expression ')' ';'
          | 'for' '(' expression? ';' expression? ';' expression? ')' statement
          | 'for' '(' 'var' declarator (',' declarator)* ';' expression? ';' expression? ')' statement
          | 'for' '(' 'var' IDENTIFIER 'in' expression ')' statement
          | 'for' '(' left 'in' expression ')' statement
          | 'switch' '(' expression ')' '{' switchCase* '}'
          | 'with' '(' expression ')' statement
          | 'break' IDENTIFIER? ';'
          | 'continue' IDENTIFIER? ';'
          | 'return' expression? ';'
          | 'throw' expression ';'
          | 'try' block (handler finalizer? | finalizer)
          | 'debugger' ';'
          | IDENTIFIER ':' statement
          | expressionFirst ';'
          ;

declarator : IDENTIFIER ('=' assignment)? ;

switchCase : ('case' expression | 'default') ':' statement* ;

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
        | 'function' IDENTIFIER? parameters body
        ;

// A statement that begins with a brace is a block, and one that begins with
// `function` declares it.
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
       | REGEXP
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

property : (IDENTIFIER | STRING | NUMBER) ':' assignment
         | 'get' (IDENTIFIER | STRING | NUMBER) '(' ')' body
         | 'set' (IDENTIFIER | STRING | NUMBER) '(' IDENTIFIER ')' body
         ;

prefix : 'delete' | 'typeof' | 'void' | '+' | '-' | '!' | '~' ;

binaryOperator : '||' | '&&' | '|' | '^' | '&' | '==' | '!=' | '===' | '!==' | '<' | '>'
               | '<=' | '>=' | '<<' | '>>' | '>>>' | '+' | '-' | '*' | '/' | '%' | 'in'
               | 'instanceof'
               ;

assignOperator : '=' | '+=' | '-=' | '*=' | '/=' | '%=' | '<<=' | '>>=' | '>>>=' | '&='
               | '|=' | '^='
               ;

IDENTIFIER : [a-zA-Z_$] [a-zA-Z0-9_$]* ;

NUMBER : [0-9]+ ('.' [0-9]+)? ([eE] [+-]? [0-9]+)?
       | '0x' [0-9a-fA-F]+
       ;

STRING : '"' ([ !#-[\]-~] | '\\' ["\\/bfnrt0])* '"'
       | '\'' ([ -&(-[\]-~] | '\\' ['\\/bfnrt0])* '\''
       ;

// No brackets in it: what is between them is another language.
REGEXP : '/' [a-z.^$] [a-z.^$|]* '/' 'g'? 'i'? 'm'? ;

BLANKS : [ \t\r\n]+ -> skip ;

COMMENT : '/*' .*? '*/' -> skip ;

LINE_COMMENT : '//' ~[\n]* -> skip ;
