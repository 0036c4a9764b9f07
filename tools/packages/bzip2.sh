# Compressed files: plain make.
program=bzip2
arguments='-dc @@'
seeds='*.bz2'
targets='bzip2'
suite='make test'
# Its library is shared.
export CFLAGS="$CFLAGS -Wl,-rpath,$HERE"
