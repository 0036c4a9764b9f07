# Prototypes of C functions: autotools, flex and bison.
program=cproto
arguments='-i @@'
seeds='testing/*.c *.c'
configure='--disable-llib'
suite='cd testing && sh ./testing.sh'
