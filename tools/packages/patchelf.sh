# ELF files: C++ under autotools.
program=src/patchelf
arguments='--print-needed @@'
make_seeds() {
    local so
    printf 'int f(void){return 1;}' >"$1.c"
    gcc -nostdlib -shared -s -o "$1/library" "$1.c"
}
