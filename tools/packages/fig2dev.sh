# Drawings of xfig: autotools, hand-written parser.
program=fig2dev/fig2dev
# A language that opens no pictures, whose names would reach a shell.
arguments='-L box @@'
seeds='fig2dev/tests/data/*.fig'
configure='--without-xpm'
suite='make check'
