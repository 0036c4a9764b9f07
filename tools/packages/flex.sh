# Patterns of lex: autotools, its own scanner and bison grammar.
program=src/flex
arguments='-o out.c @@'
seeds='tests/*.l'
configure='--disable-nls'
targets='-C src flex'
