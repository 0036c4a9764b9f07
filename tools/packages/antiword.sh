# Text of Word documents: plain make, a binary format read by hand-written code.
program=antiword
arguments='-m 8859-1.txt @@'
seeds='Docs/testdoc.doc'
targets='-f Makefile.Linux antiword LD=$(CC)'
# It looks for character maps where it would be installed.
prepare() { sed -i "s|\"/usr/share/antiword\"|\"$HERE/Resources\"|" antiword.h; }
