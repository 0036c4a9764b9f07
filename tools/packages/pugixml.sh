# XML: C++; the libFuzzer target is its own.
program=fuzz-target
arguments=''
seeds='tests/data_fuzz_parse/*'
build() {
    # shellcheck disable=SC2086
    $CXX $CXXFLAGS -I src -o fuzz-target tests/fuzz_parse.cpp src/pugixml.cpp $FUZZER
}
