# Archives of cpio and tar: autotools and gnulib.
program=src/cpio
arguments='-itv'
make_seeds() {
    local format
    for format in bin odc newc crc tar ustar hpbin; do
        printf 'AUTHORS\nTHANKS\n' | src/cpio -o -H $format >"$1/$format" 2>/dev/null || true
    done
}
configure='--disable-nls'
suite='make check'
