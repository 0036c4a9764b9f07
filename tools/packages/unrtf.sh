# Rich text as HTML: autotools, hand-written parser.
program=src/unrtf
arguments='--nopict -P outputs @@'
seeds='tests/*.rtf'
prepare() { autoreconf -fi; }
