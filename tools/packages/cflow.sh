# Calls between C functions: autotools, flex.
program=src/cflow
seeds='src/*.c'
configure='--disable-nls'
suite='make -C tests check'
