%token NUMBER WORD FOR ARROW UNUSED
%%
list: item | list ',' item ;
item: NUMBER | WORD | FOR WORD ARROW item | '\n' ;
