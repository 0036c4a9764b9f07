# The C preprocessor: autotools, hand-written.
program=src/mcpp
arguments="-I $HERE/test-t @@"
seeds='test-t/*.t test-c/*.c'
