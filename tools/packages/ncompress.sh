# Compressed files: plain make.
program=compress
arguments='-dc'
make_seeds() { ./compress -c README* | head -c 3000 >"$1/readme.Z" || true; }
