# Types of files by a list of patterns: autotools.
program=src/file
arguments="-m $HERE/magic/magic.mgc @@"
seeds='tests/*.testfile'
configure='--disable-libseccomp --disable-zlib --disable-bzlib --disable-xzlib'
suite='make -C tests check'
