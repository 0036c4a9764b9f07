# What every recipe in this directory, in ../fuzz-targets and in ../packages stands on.
# `xtask` runs one stage of one recipe at a time:
#
#     SCRIPT=tools/subjects/NAME/recipe.sh bash tools/subjects/lib.sh STAGE
#
# A recipe, NAME/recipe.sh, sets `sources` (Debian source packages) and defines
#
#     build      build here, a private copy of the sources, with $CC and $CXX
#     programs   print the executables that have two halves, one a line
#     check      run the suite; print `ok NAME` or `not ok NAME` for each test
#     work       print a CPU-bound command line, for the benchmark (optional)
#     fuzz       print the command line that reads one input, `@@`, and
#     fuzz_seed  print that input: for the comparison of fuzzers (optional)
#     broken     build the program of `fuzz` once more, with a mistake, and print its path:
#                a regression suite must notice (optional)
#     keys       print the command line that takes keys from a terminal (optional)
#
# and knows nothing of flavours: the same three functions run on the plain build,
# on the fast half and on the symbolic half. A check whose right answer nobody
# wrote down is `same`: what the plain build printed is right.
#
# The environment: SUBJECTS (where everything is kept), HERE (the build), CC,
# CXX, CFLAGS, CXXFLAGS, EXPECTED (what the plain build printed), RECORD (1 while
# the plain build is checked), SCRIPT (the recipe), RECIPE (the recipe's directory),
# FUZZER (flags that link a libFuzzer target).
set -euo pipefail

stage=$1
JOBS=$(nproc)
TEST_LIMIT=300

. "$(dirname "${BASH_SOURCE[0]}")/../debian.sh"

# One directory a source package, named after it, patched as Debian ships it.
fetch() {
    local package
    private_apt
    for package in $sources; do
        [ -d "$SUBJECTS/src/$package" ] && continue
        rm -rf "$SUBJECTS/download/$package"
        mkdir -p "$SUBJECTS/download/$package" "$SUBJECTS/src"
        cd "$SUBJECTS/download/$package"
        debian_source "$package"
        # shellcheck disable=SC2086
        dpkg-source --no-check ${unpack_flags:-} -x ./*.dsc tree
        mv tree "$SUBJECTS/src/$package"
    done
}

# A private copy of the sources: of one package in place, of several side by side.
unpack() {
    local package
    for package in $sources; do
        case $sources in
        *' '*) cp -a "$SUBJECTS/src/$package" "$HERE/$package" ;;
        *) cp -a "$SUBJECTS/src/$package/." "$HERE" ;;
        esac
    done
}

# A program that hangs is one failed test, not the end of the suite. (Functions
# run as they are: timeout knows only programs.)
limited() {
    if [ "$(type -t "$1")" = function ]; then
        "$@"
    else
        timeout --kill-after 5 "$TEST_LIMIT" "$@"
    fi
}

# passes NAME COMMAND...: right when the command says so.
passes() {
    local test=$1
    shift
    if limited "$@" </dev/null >"$HERE/check.log" 2>&1; then
        echo "ok $test"
    else
        echo "not ok $test"
        tail -n 3 "$HERE/check.log" | sed 's/^/# /'
    fi
}

# same NAME COMMAND...: right when output and status are the plain build's. What
# goes to the error stream counts too; the build's own path in it does not, nor what
# the shell says about a signal, with the number of the process.
same() {
    local test=$1 got status=0
    shift
    got=$HERE/check.out
    limited "$@" >"$got" 2>&1 || status=$?
    echo "status $status" >>"$got"
    sed -i -e "s|$HERE|HERE|g" -e '/lib\.sh: line [0-9]*: *[0-9]* /d' "$got"
    if [ "$RECORD" = 1 ]; then
        cp "$got" "$EXPECTED/$test"
    fi
    if cmp -s "$got" "$EXPECTED/$test"; then
        echo "ok $test"
    else
        echo "not ok $test"
        diff -a "$EXPECTED/$test" "$got" | head -n 4 | cut -c 1-160 | sed 's/^/# /' || true
    fi
}

# same_sections NAME COMMAND...: as `same`, but every part of the output that a
# line `=== PART` opens is a test of its own.
same_sections() {
    local test=$1 got status=0
    shift
    got=$HERE/check.out
    limited "$@" >"$got" 2>&1 || status=$?
    printf '=== status\n%s\n' "$status" >>"$got"
    [ "$RECORD" = 1 ] && cp "$got" "$EXPECTED/$test"
    awk -v test="$test" '
        /^=== / { part = $2; if (FNR == NR) { order[++n] = part } next }
        FNR == NR { want[part] = want[part] $0 "\n"; next }
        { got[part] = got[part] $0 "\n" }
        END {
            for (i = 1; i <= n; i++) {
                p = order[i]
                print (got[p] == want[p] ? "ok " : "not ok ") test "/" p
            }
        }' "$EXPECTED/$test" "$got"
}

# CTest's own words for what passed.
ctest_results() {
    ctest --timeout "$TEST_LIMIT" "$@" 2>&1 | awk '
        /^ *[0-9]+\/[0-9]+ Test +#/ { print ($0 ~ / Passed / ? "ok " : "not ok ") $4 }'
}

RECIPE=$(dirname "$SCRIPT")
if [ -e "$RECIPE/lib.sh" ]; then
    # shellcheck source=/dev/null
    . "$RECIPE/lib.sh"
fi
# shellcheck source=/dev/null
. "$SCRIPT"
if [ "$stage" != fetch ]; then
    mkdir -p "$EXPECTED"
    cd "$HERE"
fi
"$stage"
