# FAT file systems: autotools.
program=src/fsck.fat
arguments='-n -v @@'
make_seeds() {
    local dump
    for dump in tests/*.xxd; do xxd -r "$dump" "$1/$(basename "$dump" .xxd)" || true; done
}
suite='make check'
