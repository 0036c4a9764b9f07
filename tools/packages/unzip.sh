# Zip archives: plain make, with K&R declarations.
program=unzip
arguments='-t @@'
seeds='testmake.zip'
system=make
targets='-f unix/Makefile unzips LF2= CF=-I.\ -DUNIX\ -DNO_LCHMOD\ -DHAVE_DIRENT_H\ -DHAVE_TERMIOS_H'
build() {
    make -j "$JOBS" -f unix/Makefile unzips CC="$CC $CFLAGS" LF2="$LDFLAGS" \
        CF="-I. -DUNIX -DNO_LCHMOD -DHAVE_DIRENT_H -DHAVE_TERMIOS_H" LD="$CC $CFLAGS"
}
suite='make -f unix/Makefile check'
