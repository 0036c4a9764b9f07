# A JSON processor with its own compiler (flex and bison) and Oniguruma beneath
# it, both built here by the same compiler, both with their own suites.
sources="libonig jq"
regex_tests="test_utf8 test_syntax test_options testc testcu test_regset test_back"

build() {
    (
        cd libonig
        autoreconf -fi
        ./configure --quiet --disable-shared --prefix="$HERE/installed"
        make -j "$JOBS" install
        # shellcheck disable=SC2086
        make -j "$JOBS" -C test $regex_tests
    )
    cd jq
    autoreconf -fi
    ./configure --quiet --disable-shared --disable-docs --disable-maintainer-mode \
        --with-oniguruma="$HERE/installed"
    make -j "$JOBS"
}

programs() {
    local t
    echo jq/jq
    for t in $regex_tests; do echo libonig/test/$t; done
}

check() {
    local t
    for t in $regex_tests; do
        same "onig-$t" libonig/test/$t
    done
    for t in jq onig base64 optional; do
        limited jq/jq -L jq/tests/modules --run-tests <jq/tests/$t.test 2>&1 | run_tests $t || true
    done
    for t in utf8test shtest jq-f-test.sh; do
        NO_VALGRIND=1 passes $t jq/tests/$t
    done
}

# jq names a test before it runs it, and says something with *** when it fails.
run_tests() {
    awk -v suite="$1" '
        function flush() { if (test) print (bad ? "not ok " : "ok ") suite "-" test; bad = 0 }
        /^Testing .* at line number/ { flush(); test = "line-" $NF }
        /^\*\*\*/ { bad = 1 }
        / tests passed/ { flush(); test = ""; print "ok " suite "-reached-its-end" }'
}

work() {
    awk 'BEGIN {
        for (i = 0; i < 40000; i++)
            printf "{\"id\":%d,\"name\":\"item %d\",\"tags\":[\"t%d\",\"u%d\"],\"price\":%.2f}\n", i, i * 7 % 1000, i % 13, i % 7, i / 9
    }' >"$HERE/work.json"
    # shellcheck disable=SC2016
    echo jq/jq -n -c "'[inputs|select(.id%3==0)|{(.tags[0]):(.name|ascii_upcase|test(\"[0-9]+7\$\"))}]|group_by(keys[0])|map(length)'" work.json
}

fuzz() {
    echo jq/jq -n -f @@
}

fuzz_seed() {
    printf '[1, 2, 3] | map(. + 1)\n'
}
