# A library for PNG images. zlib is the system's, without instrumentation.
sources=libpng1.6

build() {
    cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=None -DPNG_SHARED=OFF -DPNG_TESTS=OFF \
        -DPNG_EXECUTABLES=OFF
    ninja -C out
    # shellcheck disable=SC2086
    $CC $CFLAGS -I . -I out -o fuzz-target "$RECIPE/target.c" out/libpng16.a $FUZZER -lz -lm
}
