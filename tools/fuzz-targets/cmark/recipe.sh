# A parser for CommonMark.
sources=cmark

build() {
    cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=None -DCMARK_SHARED=OFF -DCMARK_TESTS=OFF
    ninja -C out cmark_static
    # shellcheck disable=SC2086
    $CC $CFLAGS -DCMARK_STATIC_DEFINE -I src -I out/src -o fuzz-target "$RECIPE/target.c" \
        out/src/libcmark.a $FUZZER
}
