# Binary differences: autotools.
program=xdelta3
arguments='printdelta @@'
# Its other programs are C++ of before C++11.
targets=xdelta3
make_seeds() { ./xdelta3 -e -f -s README.md INSTALL "$1/delta" || true; head -c 100 README.md >short; ./xdelta3 -e -f -A -s short README.md "$1/other" || true; }
