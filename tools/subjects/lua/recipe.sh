# The Lua interpreter, as its authors ship it. Its suite is not in the source
# package; the scripts beside this file check the language and its library.
sources=lua5.4
unpack_flags=--skip-patches

build() {
    make -C src linux CC="$CC -std=gnu99" MYCFLAGS="$CFLAGS" MYLDFLAGS="${LDFLAGS:-}"
}

programs() {
    echo src/lua
    echo src/luac
}

check() {
    local script base
    for script in "$RECIPE"/*.lua; do
        base=$(basename "$script" .lua)
        [ "$base" = work ] && continue
        passes "file-$base" src/lua "$script"
        same "stdin-$base" src/lua - <"$script"
        same "bytecode-$base" compiled "$script"
    done
}

compiled() {
    src/luac -s -o "$HERE/check.luac" "$1"
    src/luac -l "$HERE/check.luac" | sed 's/0x[0-9a-f]*/ADDRESS/g'
    src/lua "$HERE/check.luac"
}

work() {
    echo src/lua "$RECIPE/work.lua"
}

fuzz() {
    echo src/lua @@
}

fuzz_seed() {
    printf 'local x = 1\nprint(x + 2)\n'
}
