# Certificates and other ASN.1: one C file.
program=dumpasn1
seeds='debian/test-data/*'
build() {
    # shellcheck disable=SC2086
    $CC $CFLAGS $LDFLAGS -o dumpasn1 dumpasn1.c
}
