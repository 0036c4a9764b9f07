# Manual pages: a configure script of its own, hand-written parser.
program=mandoc
arguments='-T ascii @@'
seeds='regress/**/*.in'
build() {
    printf 'CC="%s"\nCFLAGS="%s"\nLDFLAGS="%s"\n' "$CC" "$CFLAGS -D_GNU_SOURCE" "$LDFLAGS" >configure.local
    ./configure
    make -j "$JOBS" mandoc
}
