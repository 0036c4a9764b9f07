/* bison lets `| alternative` follow the semicolon of its rule. */
%token NUM "number"
%%
list: item ;
  | list ',' item ;
  ;
  | '[' list ']'
item: NUM ; | '-' NUM { negate (); } ; | %empty ;
