# A formatter for C: autotools, hand-written scanner.
program=src/indent
arguments='-st @@'
seeds='regression/input/*.c'
configure='--disable-nls'
targets='-C src'
prepare() { touch man/* doc/*; }
