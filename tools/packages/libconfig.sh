# Configuration files: autotools, flex and bison.
program=examples/c/check
build() {
    ./configure --disable-shared --disable-cxx
    make -j "$JOBS" -C lib
    # shellcheck disable=SC2086
    $CC $CFLAGS $LDFLAGS -I lib -o examples/c/check "$RECIPE/libconfig.c" lib/.libs/libconfig.a
}
seeds='tests/testdata/*.cfg examples/c/*.cfg'
grammar=lib/grammar.y
lexer=lib/scanner.l
