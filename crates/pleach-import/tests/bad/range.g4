grammar X;
a : A ;
A : [z-a] ;
