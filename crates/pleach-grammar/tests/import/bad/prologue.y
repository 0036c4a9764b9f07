%{ never closed
%%
a: ;
