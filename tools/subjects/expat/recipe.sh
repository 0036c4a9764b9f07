# An XML parser under autotools. Its suite runs in memory; labels get to it
# through xmlwf, on the documents beside this file and on a large one of its own.
sources=expat

build() {
    cd expat
    ./buildconf.sh
    ./configure --quiet --disable-shared --without-docbook
    make -j "$JOBS"
    make -j "$JOBS" -C tests check TESTS=
}

programs() {
    echo expat/tests/runtests
    echo expat/tests/runtestspp
    echo expat/tests/benchmark/benchmark
    echo expat/xmlwf/xmlwf
}

check() {
    local suite doc base
    for suite in runtests runtestspp; do
        limited expat/tests/$suite -v 2>&1 | awk -v suite=$suite '
            /^PASS: / { print "ok " suite "-" $2 }
            /^FAIL: / { print "not ok " suite "-" $2 }' || true
    done
    for doc in "$RECIPE"/*.xml testdata/largefiles/nes96.xml; do
        base=$(basename "$doc" .xml)
        same "stdin-$base" wellformed "$doc"
    done
}

# Canonical form of a document that comes through standard input.
wellformed() {
    rm -rf canonical
    mkdir canonical
    limited expat/xmlwf/xmlwf -n -N -d canonical <"$1" || echo "status $?"
    cat canonical/* 2>/dev/null || true
}

work() {
    echo expat/tests/benchmark/benchmark testdata/largefiles/nes96.xml 4096 12
}

fuzz() {
    echo expat/xmlwf/xmlwf @@
}

fuzz_seed() {
    printf '<?xml version="1.0"?>\n<a b="c">text &amp; <d/></a>\n'
}
