grammar x;
a : a X ;
X : [x] ;
