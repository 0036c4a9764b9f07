%token A
%%
a: A
#if X
| A A
;
