# Compressed files: plain make.
program=programs/lz4
arguments='-dc'
make_seeds() {
    programs/lz4 -q -c README.md >"$1/readme"
    programs/lz4 -q -c -BD -B4 --content-size LICENSE >"$1/license"
    head -c 300 NEWS | programs/lz4 -q -c -l >"$1/legacy"
}
targets='lz4'
