# HTML as text: C++, a bison grammar with a scanner by hand.
program=html2text
seeds='debian/tests/*.html'
# C++ from before `register` was removed.
export CXXFLAGS="$CXXFLAGS -Wno-register"
targets='LOADLIBES=-lstdc++'
