#!/usr/bin/env bash
# Everything that one does with a checkout of Pleach; `./x help` lists it.
#
# Only commands are here. What has logic in it, the comparison of programs and
# the benchmarks, is the crate crates/xtask, and is called from here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export PLEACH_ROOT=$PWD

build_packages="clang-22 llvm-22-dev libclang-rt-22-dev lld-22 libstdc++-12-dev make"
test_packages="csmith libcsmith-dev flex bison cmake ninja-build libtool autoconf automake
    pkg-config tcl zlib1g-dev dpkg-dev debian-archive-keyring valgrind afl++"

help() {
    cat <<'EOF'
./x demo                     build Pleach, compile the calculator in examples/calc with it,
                             trace an input and explain it
./x test                     every test: formatting, lints, cargo's tests, 40 random programs,
                             two real ones
./x build                    leave pleach, pleach-cc and pleach-c++ in target/release/
./x setup [build]            install the Debian packages that are missing (all, or only those
                             that ./x build needs)
./x differential [N [SEED]]  N random programs from csmith: plain clang, fast half and symbolic
                             half must agree, and every traced expression must be true
./x subjects NAME...         fetch real programs, build them with Pleach, run their own tests
./x subjects all | list
./x bench trace              what instrumented programs cost, against the plain ones
./x bench trace --plain ./a --pleach ./b --input FILE [-- ARGS]
                             the same for a program of yours
./x help

The last four take --help.
EOF
}

say() {
    printf '\033[1m%s\033[0m\n' "$*" >&2
}

# setup [build]: apt-get is left alone when nothing is missing.
setup() {
    local wanted=$build_packages package missing=()
    [ "${1:-}" = build ] || wanted="$wanted $test_packages"
    if ! command -v cargo >/dev/null; then
        echo "./x: cargo is missing; Pleach needs a stable Rust toolchain" >&2
        exit 2
    fi
    if ! command -v dpkg-query >/dev/null; then
        # shellcheck disable=SC2086
        echo "./x: this is not Debian; install what its packages" $wanted "hold" >&2
        exit 2
    fi
    for package in $wanted; do
        case $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) missing+=("$package") ;;
        esac
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    local root=()
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "./x: these packages are missing and only root can install them: ${missing[*]}" >&2
            exit 2
        fi
        root=(sudo)
    fi
    say "installing ${missing[*]}"
    "${root[@]}" apt-get update --quiet
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --quiet --yes --no-install-recommends "${missing[@]}"
}

build() {
    setup build
    compile
}

compile() {
    cargo build --release --workspace
    # Cargo cannot name a program so; called by this name, it compiles C++.
    ln -sf pleach-cc target/release/pleach-c++
}

demo() {
    build
    local out=target/demo seed=examples/calc/seeds/quotient
    mkdir -p $out
    say "pleach-cc -O2 -g -o $out/calc examples/calc/calc.c"
    (cd examples/calc && ../../target/release/pleach-cc -O2 -g -o ../../$out/calc calc.c)
    say "$out/calc < $seed     (which is $(cat $seed))"
    $out/calc <$seed
    say "pleach trace $seed -- $out/calc | tail -n 2"
    target/release/pleach trace $seed -- $out/calc | tail -n 2
    say "pleach explain $seed -- $out/calc"
    target/release/pleach explain $seed -- $out/calc
    cat <<EOF

The calculator was compiled once, into one file with two halves. The fast half is
what ran first, like any program. Then the symbolic half ran on the same input and
wrote down every decision that depended on it, as C over the bytes in[0], in[1], ...
The line marked "check" in product() is no decision of the program's: it divides
there, and nothing in the path so far keeps the divisor from being zero. So:

    printf '8/0\\n' | $out/calc

Try an input of your own,

    echo '(1+2)*3' > /tmp/input
    target/release/pleach explain /tmp/input -- $out/calc

or a program of yours: make CC=$PWD/target/release/pleach-cc
EOF
}

# Runs one step of the tests. Its last line that counts tests is added up; a step
# that counts none is one test itself.
passed=0 failed=0
step() {
    local name=$1 log status=0 counts
    shift
    log=target/test-logs/$name.log
    mkdir -p target/test-logs
    say "$name"
    "$@" 2>&1 | tee "$log" || status=$?
    # "test result: ok. 12 passed; 0 failed; ..." from cargo, one for each crate;
    # "40 passed, 0 failed" from xtask.
    counts=$(sed -nE 's/.*[ .]([0-9]+) passed[;,] ([0-9]+) failed.*/\1 \2/p' "$log" |
        awk '{ p += $1; f += $2 } END { if (NR) print p, f }')
    case $counts in
    '') [ $status = 0 ] && counts='1 0' || counts='0 1' ;;
    *' 0') [ $status = 0 ] || counts="${counts% 0} 1" ;;
    esac
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
}

run_tests() {
    setup
    step formatting cargo fmt --all --check
    step runtime-formatting cargo fmt --manifest-path crates/pleach-rt/Cargo.toml --check
    step lints cargo clippy --workspace --all-targets --release -- -D warnings
    step build compile
    step tests cargo test --release --workspace --no-fail-fast
    step differential xtask differential 40 1
    step subjects xtask subjects cjson tinyxml2
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}

xtask() {
    target/release/xtask "$@"
}

case ${1:-help} in
setup) setup "${2:-}" ;;
build) build ;;
demo) demo ;;
test) run_tests ;;
differential | subjects | bench)
    setup
    compile
    xtask "$@"
    ;;
help | -h | --help) help ;;
*)
    echo "./x: there is no command $1; ./x help lists them" >&2
    exit 2
    ;;
esac
