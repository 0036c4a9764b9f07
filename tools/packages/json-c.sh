# JSON: CMake.
program=out/apps/json_parse
suite='ctest --test-dir out'
make_seeds() { printf '{"a": [1, -2.5e3, "x\\u00e9", null, true], "b": {}}' >"$1/object"; }
