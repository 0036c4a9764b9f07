# An XML library with more than 50,000 branch counters.
sources=libxml2

build() {
    cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF \
        -DLIBXML2_WITH_ICONV=OFF -DLIBXML2_WITH_LZMA=OFF -DLIBXML2_WITH_PROGRAMS=OFF \
        -DLIBXML2_WITH_PYTHON=OFF -DLIBXML2_WITH_TESTS=OFF -DLIBXML2_WITH_ZLIB=OFF
    ninja -C out
    # The whole library, so that the cost of unused counters is measured, too.
    # shellcheck disable=SC2086
    $CC $CFLAGS -I include -I out -o fuzz-target "$RECIPE/target.c" -Wl,--whole-archive \
        out/libxml2.a -Wl,--no-whole-archive $FUZZER -lm -lpthread
}
