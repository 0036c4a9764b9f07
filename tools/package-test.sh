#!/bin/sh
# Runs in a fresh root, as root: installs the packages beside this file, and uses them.
set -eu
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive
say() { printf '\n== %s\n' "$*"; }
install() { apt-get install --quiet --quiet --yes --no-install-recommends "$@"; }

say "searching needs one package"
install ./pleach_*.deb
for program in pleach-cc clang-22 cc; do
    if command -v $program; then exit 1; fi
done
pleach --version
pleach doctor ./compiled
pleach run -i seeds -o out-search -n 3000 -- ./compiled
test "$(ls out-search/crashes | grep -c ^id:)" -gt 0
if pleach replay out-search/crashes -- ./compiled; then exit 1; fi
pleach explain seeds/quotient -- ./compiled >explained
grep -q 'in\[1\]' explained
pleach cmin -i out-search -o small -- ./compiled
if pleach cc -c calc.c 2>message; then exit 1; fi
grep pleach-cc message

say "compiling needs the other"
install ./pleach-cc_*.deb
pleach --version | grep -q '^LLVM 22\.'
pleach-cc -g -O1 -o calc calc.c
pleach run -i seeds -o out -n 3000 -- ./calc
printf '#include <pleach.h>\n#include <klee/klee.h>\nint main(void) { return pleach_u8() == 7; }\n' >typed.c
pleach cc -g -o typed typed.c
pleach run -o out-typed -s dfs -V 20 -- ./typed
# The runtime is installed: nothing was written for this user.
if [ -e "$HOME/.cache/pleach" ]; then exit 1; fi
printf '#include <iostream>\nint main() { std::cout << "C++" << std::endl; }\n' >hello.cc
pleach-c++ -o hello hello.cc
./hello
install libclang-rt-22-dev
pleach doctor
ls /usr/share/man/man1/ | grep pleach || echo "(no manual pages here: dpkg excludes them)"

say "removing leaves nothing"
apt-get purge --quiet --quiet --yes pleach pleach-cc
left=$(find / -xdev \( -path /opt -o -path /proc -o -path "$HOME/.cache" -o -path /tmp \) -prune \
    -o -name '*pleach*' -print)
if [ -n "$left" ]; then
    echo "$left"
    exit 1
fi
