# Encoded files in mail: autotools and gnulib.
program=src/uudecode
arguments='-o - @@'
configure='--disable-nls'
make_seeds() {
    src/uuencode THANKS x <THANKS >"$1/uu" || true
    printf 'begin-base64 644 x\nQUJDRA==\n====\n' >"$1/base64"
}
suite='make -C tests check'
