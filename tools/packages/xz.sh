# Compressed files: autotools; the libFuzzer target is its own.
sources=xz-utils
program=fuzz
arguments=''
seeds='tests/files/*.xz tests/files/*.lzma'
configure='--disable-nls --enable-small --disable-threads'
suite='make -C tests check'
build() {
    # shellcheck disable=SC2086
    ./configure --disable-shared $configure
    make -j "$JOBS"
    # shellcheck disable=SC2086
    $CC $CFLAGS -I src/liblzma/api -o fuzz tests/ossfuzz/fuzz.c src/liblzma/.libs/liblzma.a $FUZZER
}
