grammar X;
a : (A | B ;
A:'a';B:'b';