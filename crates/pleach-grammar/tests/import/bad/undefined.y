%%
a: b c
 ;
b: ;
