# The editor, as small as vim-tiny. Its suite needs a larger one; what is checked here are
# scripts of commands, and keys that are typed on a terminal by the benchmark.
sources=vim

build() {
    ./configure --quiet --with-features=tiny --with-tlib=ncurses --disable-gui --without-x \
        --disable-nls --disable-acl --disable-gpm --disable-selinux --disable-canberra \
        --disable-libsodium --disable-netbeans
    make -C src -j "$JOBS" vim
}

programs() {
    echo src/vim
}

# -Z: no commands for a shell, whatever is typed.
vim() {
    src/vim -Z -u NONE -i NONE -n -N "$@"
}

edited() {
    local text=$HERE/check.txt
    cp "$RECIPE/text" "$text"
    vim -es -c "source $1" -c 'wq!' "$text" </dev/null
    cat "$text"
}

check() {
    local script
    for script in "$RECIPE"/*.ex; do
        same "$(basename "$script" .ex)" edited "$script"
    done
}

# A command line for keys on a terminal.
keys() {
    echo src/vim -Z -u NONE -i NONE -n -N
}
