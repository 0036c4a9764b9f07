# PNG images: one C file.
program=pngcheck
arguments='-v @@'
seeds='debian/tests/*.png'
build() {
    # shellcheck disable=SC2086
    $CC $CFLAGS $LDFLAGS -DUSE_ZLIB -o pngcheck pngcheck.c -lz
}
