# XPath: C++; the libFuzzer target is its own.
sources=pugixml
program=fuzz-target
arguments=''
seeds='tests/data_fuzz_xpath/*'
build() {
    # shellcheck disable=SC2086
    $CXX $CXXFLAGS -I src -o fuzz-target tests/fuzz_xpath.cpp src/pugixml.cpp $FUZZER
}
