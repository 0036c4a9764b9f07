# Regular expressions: autotools; the libFuzzer target is its own.
program=fuzz-target
arguments=''
build() {
    ./configure --disable-shared
    make -j "$JOBS"
    # shellcheck disable=SC2086
    $CC $CFLAGS -DHAVE_CONFIG_H -DPCRE2_CODE_UNIT_WIDTH=8 -I src -o fuzz-target src/pcre2_fuzzsupport.c .libs/libpcre2-8.a $FUZZER
}
make_seeds() {
    printf 'a(b|c)*[d-f]+?(?<n>x)\\k<n>' >"$1/groups"
    printf '^\\p{Lu}(?=\\d{2,3})(?i:z)$' >"$1/classes"
}
suite='make check'
