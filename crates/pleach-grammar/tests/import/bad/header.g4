a : b ;
