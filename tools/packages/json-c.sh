# JSON: CMake.
program=out/apps/json_parse
# Its tests would use valgrind, which leaves no room for labels.
suite='USE_VALGRIND=0 ctest --test-dir out'
make_seeds() { printf '{"a": [1, -2.5e3, "x\\u00e9", null, true], "b": {}}' >"$1/object"; }
# It prints how much memory it used, which is never the same.
check() { own_tests; }
