# What the recipes in this directory share: how each build system is run, and how a
# program is tested on its own test data. ../subjects/lib.sh explains the stages.
#
# A recipe, NAME.sh, describes one Debian source package:
#
#     sources    the source package [default: NAME]
#     program    the program that reads one input, a path below the build
#     arguments  its arguments [default: @@]; without @@, it reads standard input. It runs
#                in another directory, so other files are named with $HERE
#     seeds      patterns of its own test data, below the sources
#     suite      the command that runs its own tests
#     system     autotools, cmake, meson or make [default: what the sources have]
#     configure  options for autotools, CMake or Meson
#     targets    targets and variables for make or Ninja
#     top        the directory to build in [default: .]
#     grammar, lexer, keywords   grammar files of its own, for `pleach run`
#
# and may define `prepare` (before the build), `make_seeds DIRECTORY` (test data that
# must be made from its own), or any stage.
shopt -s globstar nullglob

name=$(basename "$SCRIPT" .sh)
sources=$name
program='' arguments=@@ seeds='' suite='' system='' configure='' targets='' top=.
grammar='' lexer='' keywords=''

# Inputs: enough to reach what the tests reach, small enough to be mutated.
MAX_SEEDS=40
MAX_SEED_BYTES=32768

prepare() { :; }

# C that was accepted when these programs were written, and is an error in clang 22.
export CFLAGS="$CFLAGS -Wno-implicit-function-declaration -Wno-implicit-int -Wno-int-conversion \
-Wno-incompatible-pointer-types -Wno-incompatible-function-pointer-types -Wno-return-type \
-Wno-return-mismatch -Wno-deprecated-non-prototype -w"
# Leaks of a program that ends are no bugs here, and a build runs its own tools.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

build_system() {
    if [ -n "$system" ]; then
        echo "$system"
    elif [ -e configure ] || [ -e configure.ac ] || [ -e configure.in ]; then
        echo autotools
    elif [ -e CMakeLists.txt ]; then
        echo cmake
    elif [ -e meson.build ]; then
        echo meson
    else
        echo make
    fi
}

# shellcheck disable=SC2086
build() {
    cd "$top"
    prepare
    case $(build_system) in
    autotools)
        if [ -e configure ]; then
            # Debian's patches made what these were generated from newer.
            find . -name aclocal.m4 -exec touch {} +
            find . \( -name configure -o -name Makefile.in -o -name '*config*.in' \) -exec touch {} +
        else
            autoreconf -fi
        fi
        ./configure --disable-shared --enable-static --disable-dependency-tracking $configure
        make -j "$JOBS" $targets
        ;;
    cmake)
        cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF $configure
        ninja -C out -j "$JOBS" $targets
        ;;
    meson)
        meson setup out --buildtype=plain --default-library=static $configure
        ninja -C out -j "$JOBS" $targets
        ;;
    make)
        # As part of the compiler's name, so that the Makefile's own flags stay.
        make -j "$JOBS" CC="$CC $CFLAGS $LDFLAGS" CXX="$CXX $CXXFLAGS $LDFLAGS" $targets
        ;;
    esac
}

# Every executable that has a symbolic half, so that test programs count, too.
programs() {
    find . -type f -perm -u+x ! -name '*.so*' ! -name '*.o' -print0 |
        xargs -0 grep --text --files-with-matches --fixed-strings .pleach.symbolic |
        while read -r file; do
            if [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ]; then echo "$file"; fi
        done || true
}

# The test data, smallest first. It is searched in the sources, because the package's tests
# may leave more files in the build.
seed_files() {
    local root=$SUBJECTS/src
    case $sources in *' '*) ;; *) root=$root/$sources ;; esac
    {
        cd "$root"
        # shellcheck disable=SC2086
        list_files $seeds
        cd "$HERE"
        if [ "$(type -t make_seeds)" = function ]; then
            if [ ! -d made-seeds ]; then
                mkdir made-seeds
                make_seeds "$HERE/made-seeds"
            fi
            list_files made-seeds/*
        fi
    } | sort -n -k 1,1 -k 2,2 | awk -v count="$MAX_SEEDS" 'NR <= count' | cut -d ' ' -f 2-
}

# The size and name of each file that is small enough.
list_files() {
    local file size
    for file in "$@"; do
        size=$(stat -c %s "$file")
        if [ -f "$file" ] && [ "$size" -gt 0 ] && [ "$size" -le "$MAX_SEED_BYTES" ]; then
            echo "$size $file"
        fi
    done
}

fuzz() {
    echo "$program $arguments"
}

fuzz_seeds() {
    seed_files
}

# Options of `pleach run` for the grammar, if the program has one.
fuzz_options() {
    [ -z "$grammar" ] || echo "-g $HERE/$grammar"
    [ -z "$lexer" ] || echo "--lexer $HERE/$lexer"
    [ -z "$keywords" ] || echo "--keywords $HERE/$keywords"
}

# The program on its test data, then its own tests.
check() {
    local seed
    while read -r seed; do
        case $arguments in
        # shellcheck disable=SC2086
        *@@*) same "seed-${seed//\//_}" "./$program" ${arguments//@@/$HERE/$seed} </dev/null ;;
        # shellcheck disable=SC2086
        *) same "seed-${seed//\//_}" "./$program" $arguments <"$seed" ;;
        esac
    done < <(seed_files)
    [ -z "$suite" ] || own_tests
}

# The results of its own tests, in the words of automake, TAP, CTest, Meson or make. A
# suite that names no test is one test.
own_tests() {
    local log=$HERE/suite.log status=0 results
    (cd "$top" && timeout --kill-after 5 "$((TEST_LIMIT * 3))" bash -c "$suite") \
        </dev/null >"$log" 2>&1 || status=$?
    results=$(awk '
        { gsub(/\033\[[0-9;]*m/, "") }
        /^(PASS|XFAIL): / { print "ok suite-" $2 $3; next }
        /^(FAIL|XPASS|ERROR): / { print "not ok suite-" $2 $3; next }
        /^ok [0-9]+/ { $1 = ""; print "ok suite" $0; next }
        /^not ok [0-9]+/ { $1 = $2 = ""; print "not ok suite " $0; next }
        /^ *[0-9]+\/[0-9]+ Test +#/ { print ($0 ~ / Passed / ? "ok " : "not ok ") "suite-" $4; next }
        /^ *[0-9]+\/[0-9]+ .* (OK|FAIL|TIMEOUT) / { print ($0 ~ / OK / ? "ok " : "not ok ") "suite-" $2 $4 }
        ' "$log")
    if [ -n "$results" ]; then
        echo "$results"
    elif [ "$status" = 0 ]; then
        echo "ok suite"
    else
        echo "not ok suite"
        tail -n 3 "$log" | sed 's/^/# /'
    fi
}

version() {
    # shellcheck disable=SC2086
    set -- $sources
    dpkg-parsechangelog -l "$SUBJECTS/src/${!#}/debian/changelog" -S Version
}
