# Packet filters: libpcap's compiler has a flex and bison front end. filter.c, beside
# this file, reads a filter and prints the program that it is compiled to.
sources=libpcap

build() {
    ./configure --quiet --disable-shared --without-libnl --disable-dbus --disable-rdma
    make -j "$JOBS" libpcap.a
    # shellcheck disable=SC2086
    $CC $CFLAGS -I. -o filter "$RECIPE/filter.c" libpcap.a
}

programs() {
    echo filter
}

check() {
    local filter number=0
    while IFS= read -r filter; do
        number=$((number + 1))
        printf '%s\n' "$filter" >"$HERE/filter-$number.txt"
        same "filter-$number" ./filter <"$HERE/filter-$number.txt"
    done <"$RECIPE/filters.txt"
}

fuzz() {
    echo filter
}

fuzz_seed() {
    printf 'tcp port 80\n'
}
