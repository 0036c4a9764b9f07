grammar X;
a : b ;
