# Drawings of xfig: autotools, hand-written parser.
program=fig2dev/fig2dev
arguments='-L tikz @@'
seeds='fig2dev/tests/data/*.fig'
configure='--without-xpm'
suite='make check'
