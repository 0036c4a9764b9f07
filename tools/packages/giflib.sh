# GIF images: plain make.
program=giftext
seeds='pic/*.gif'
targets='libgif.a libutil.a giftext gif2rgb'
# Its library is shared.
export CFLAGS="$CFLAGS -Wl,-rpath,$HERE"
