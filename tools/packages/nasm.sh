# An assembler: autotools, hand-written parser.
program=nasm
arguments='-f elf64 -o out.o @@'
seeds='test/*.asm'
