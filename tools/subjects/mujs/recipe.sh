# A JavaScript interpreter. Its package has no suite, so the scripts beside this
# file are one: each prints what it computes, and the plain build is right.
sources=mujs

build() {
    make CC="$CC" HAVE_READLINE=no XCFLAGS="$CFLAGS" LDFLAGS="${LDFLAGS:-}" \
        build/release/mujs build/release/mujs-pp
}

programs() {
    echo build/release/mujs
    echo build/release/mujs-pp
}

check() {
    local script base
    for script in "$RECIPE"/*.js; do
        base=$(basename "$script" .js)
        [ "$base" = work ] && continue
        same "file-$base" build/release/mujs "$script"
        same "stdin-$base" build/release/mujs <"$script"
        same "print-$base" build/release/mujs-pp "$script"
    done
}

work() {
    echo build/release/mujs "$RECIPE/work.js"
}

fuzz() {
    echo build/release/mujs @@
}

fuzz_seed() {
    printf 'var x = 1;\nprint(x + 2);\n'
}
