# PNG images: Meson; the libFuzzer target is its own.
program=fuzz-target
arguments=''
seeds='tests/images/*.png'
build() {
    # shellcheck disable=SC2086
    $CC $CFLAGS -I spng -o fuzz-target tests/spng_read_fuzzer.c spng/spng.c $FUZZER -lz -lm
}
