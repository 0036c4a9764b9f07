# JSON: CMake.
program=out/bin/json_process
arguments='--env'
seeds='test/suites/*/*/input'
system=cmake
configure='-DJANSSON_BUILD_DOCS=OFF'
suite='ctest --test-dir out'
