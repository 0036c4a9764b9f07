# Formulas in conjunctive normal form: a configure script of its own.
program=picosat
arguments='-l 1000 @@'
build() {
    CC="$CC" ./configure.sh
    make CC="$CC $CFLAGS $LDFLAGS"
}
make_seeds() { printf 'c a comment\np cnf 4 5\n1 -2 0\n2 3 0\n-1 -3 4 0\n-4 2 0\n1 4 0\n' >"$1/a.cnf"; }
