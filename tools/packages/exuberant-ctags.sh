# Definitions in source code: autotools, a hand-written parser for each language.
program=ctags
arguments='--language-force=C -f - @@'
seeds='[a-m]*.c'
