# A macro processor: autotools.
program=src/gpp
arguments='+z @@'
make_seeds() { printf '#define f(x) x+#1\n#ifdef f\nf(2)\n#else\nz\n#endif\n#eval 1+2*3\n#include "x"\n' >"$1/a"; }
