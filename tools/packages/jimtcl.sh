# A Tcl interpreter: a configure script of its own.
program=jimsh
seeds='tests/*.test'
suite='make test'
build() {
    ./configure --minimal --disable-docs --disable-lineedit --without-ext=exec,aio,file,interp
    make
}
