# An arbitrary-precision calculator with a flex and bison front end, and its own
# Test directory. Its build runs the freshly compiled program to make its library.
sources="bc"

# It calls a function before it declares it.
build() {
    export CFLAGS="$CFLAGS -Wno-implicit-function-declaration"
    autoreconf -fi
    ./configure --quiet
    make -j "$JOBS" MAKEINFO=true
}

programs() {
    echo bc/bc
    echo dc/dc
}

check() {
    local script base
    for script in Test/*.b Test/signum; do
        base=$(basename "$script" .b)
        # Reads its input from the terminal forever, by design.
        case $base in checklib | testfn | timetest) continue ;; esac
        same "file-$base" bc/bc -l "$script" </dev/null
        same "stdin-$base" bc/bc -l <"$script"
    done
    same stdin-dc dc/dc <"$RECIPE/basic.dc"
}

work() {
    echo 'scale=900; 4*a(1); e(1); s(2); l(3); sqrt(7)' >"$HERE/work.b"
    echo quit >>"$HERE/work.b"
    echo bc/bc -l work.b
}

fuzz() {
    echo bc/bc @@
}

fuzz_seed() {
    printf 'x = 1\nx + 2\n'
}

# It subtracts where it should add.
broken() {
    rm -rf broken
    mkdir broken
    cp -a bc lib h config.h broken/
    sed -i 's/bc_add (/bc_sub (/' broken/bc/execute.c
    ! cmp -s bc/execute.c broken/bc/execute.c
    $CC $CFLAGS -DHAVE_CONFIG_H -Wno-implicit-function-declaration -Wno-everything -Ibroken \
        -Ibroken/bc -Ibroken/h -c -o broken/execute.o broken/bc/execute.c
    find bc -name '*.o' ! -name execute.o -exec $CC $CFLAGS -o broken/bc.bin {} + \
        broken/execute.o lib/libbc.a
    echo broken/bc.bin
}
