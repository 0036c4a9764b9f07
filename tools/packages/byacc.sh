# Grammars of yacc: autotools, hand-written parser.
program=yacc
arguments='-o out.c @@'
seeds='test/*.y'
suite='make check'
