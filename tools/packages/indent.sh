# A formatter for C: autotools, hand-written scanner.
program=src/indent
arguments='-st @@'
seeds='regression/input/*.c'
targets='-C src'
prepare() { touch man/* doc/*; }
