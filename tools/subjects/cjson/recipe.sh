# A JSON library with nineteen test programs under CMake. Its default is a shared
# library, so this is also the subject whose symbolic half spans two files.
sources=cjson

build() {
    cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=None -DENABLE_CJSON_UTILS=ON
    ninja -C out
    # The fuzzing driver reads a file and prints what it parsed.
    # shellcheck disable=SC2086
    $CC $CFLAGS -o out/echo fuzzing/afl.c cJSON.c -lm
}

programs() {
    echo out/cJSON_test
    find out/tests -maxdepth 1 -type f -executable | sort
    echo out/echo
}

check() {
    ctest_results --test-dir out
    local input
    for input in tests/inputs/*; do
        case $input in *.expected) continue ;; esac
        { printf bf; cat "$input"; } >"$HERE/input"
        same "echo-$(basename "$input")" out/echo /dev/stdin yes <"$HERE/input"
    done
}

work() {
    awk 'BEGIN {
        printf "bf["
        for (i = 0; i < 60000; i++)
            printf "%s{\"id\":%d,\"name\":\"item %d\",\"tags\":[\"a\\n\",\"\\u00e9\",null,true],\"x\":%.3f}", i ? "," : "", i, i, i / 7
        printf "]"
    }' >"$HERE/work.json"
    echo out/echo work.json yes
}

fuzz() {
    echo out/echo @@ yes
}

# The first two bytes say how to read and to print.
fuzz_seed() {
    printf 'bf{"name": "x\\n", "list": [1, 2.5, true, null]}'
}

# It prints every number one too large.
broken() {
    mkdir -p broken
    sed 's/double d = item->valuedouble;/double d = item->valuedouble + 1;/' cJSON.c >broken/cJSON.c
    ! cmp -s cJSON.c broken/cJSON.c
    # shellcheck disable=SC2086
    $CC $CFLAGS -I. -o broken/echo fuzzing/afl.c broken/cJSON.c -lm
    echo broken/echo
}
