# JSON: CMake; the libFuzzer target is its own.
program=fuzz-target
arguments=''
suite='ctest --test-dir out'
build() {
    cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF
    ninja -C out -j "$JOBS"
    # shellcheck disable=SC2086
    $CXX $CXXFLAGS -I . -I out -o fuzz-target fuzz/tokener_parse_ex_fuzzer.cc out/libjson-c.a $FUZZER
}
# The target takes the first bytes as options.
make_seeds() { printf '0000{"a": [1, -2.5e3, "x\\u00e9", null, true], "b": {}}' >"$1/object"; }
