# Compressed files: C++ and a configure script of its own.
program=lzip
arguments='-dc @@'
seeds='testsuite/*.lz'
suite='make check'
build() {
    ./configure CXX="$CXX" CXXFLAGS="$CXXFLAGS" LDFLAGS="$LDFLAGS"
    make -j "$JOBS"
}
