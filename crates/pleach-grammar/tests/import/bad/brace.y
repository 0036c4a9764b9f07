%token A
%%
a: A {
