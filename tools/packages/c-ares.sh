# Answers of name servers: CMake; the libFuzzer target is its own.
program=fuzz-target
arguments=''
seeds='test/fuzzinput/*'
system=cmake
configure='-DCARES_STATIC=ON -DCARES_SHARED=OFF -DCARES_BUILD_TOOLS=OFF'
build() {
    # shellcheck disable=SC2086
    cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=None $configure
    ninja -C out
    # shellcheck disable=SC2086
    $CC $CFLAGS -I include -I out -o fuzz-target test/ares-test-fuzz.c out/lib/libcares.a $FUZZER
}
