# The line editor: a configure script of its own.
program=ed
arguments='-s -r'
arguments='--restricted --quiet'
seeds='testsuite/*.ed'
suite='make check'
build() {
    ./configure CC="$CC" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS"
    make
}
