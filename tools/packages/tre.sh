# Regular expressions with errors: autotools.
program=src/agrep
arguments="-f @@ $HERE/README"
configure='--disable-nls'
make_seeds() { printf 'a(b|c){1,2}[d-f]*~x\n' >"$1/pattern"; }
suite='make check'
