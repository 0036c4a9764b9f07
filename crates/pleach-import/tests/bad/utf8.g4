grammar X;
a : A ;
A : 'ÿ' ;
