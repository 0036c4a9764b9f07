# Lists of keywords: C++ under autotools.
program=src/gperf
seeds='tests/*.gperf'
suite='make -C tests check'
# C++ from before `register` was removed.
export CXXFLAGS="$CXXFLAGS -Wno-register"
