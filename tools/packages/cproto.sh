# Prototypes of C functions: autotools, flex and bison.
program=cproto
arguments='-E 0 -i @@'
seeds='testing/*.c *.c'
configure='--disable-llib'
