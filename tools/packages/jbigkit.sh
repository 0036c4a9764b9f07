# JBIG images: plain make.
program=pbmtools/jbgtopbm
arguments='@@ image.pbm'
seeds='examples/*.jbg pbmtools/*.jbg'
targets='-j1 lib pbm'
suite='make test'
# Its library is shared.
export CFLAGS="$CFLAGS -Wl,-rpath,$HERE/libjbig"
