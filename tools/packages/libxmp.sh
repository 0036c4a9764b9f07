# Music modules: autotools.
program=test/xmp-test
build() {
    ./configure --enable-static
    make -j "$JOBS"
    # shellcheck disable=SC2086
    $CC $CFLAGS -DLIBXMP_STATIC -I include -o test/xmp-test "$RECIPE/libxmp.c" lib/libxmp.a -lm
}
seeds='test/*.it'
