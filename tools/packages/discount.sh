# Markdown: a configure script of its own.
program=markdown
arguments='@@'
seeds='tests/*.text tests/data/*.text'
build() {
    CC="$CC $CFLAGS" LDFLAGS="$LDFLAGS" ./configure.sh --with-fenced-code --with-dl=both --with-tabstops=4
    make markdown
}
