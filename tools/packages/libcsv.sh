# Tables with commas: autotools.
program=csvtest
build() {
    ./configure --disable-shared
    make
    # shellcheck disable=SC2086
    $CC $CFLAGS $LDFLAGS -I . -o csvtest examples/csvtest.c .libs/libcsv.a
}
arguments=''
seeds='tests/*.csv'
suite='make check'
