# Rich text as HTML: autotools, hand-written parser.
program=src/unrtf
arguments="--nopict -P $HERE/outputs @@"
seeds='tests/*.rtf'
prepare() { autoreconf -fi; }
