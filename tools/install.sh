#!/usr/bin/env bash
# Installs Pleach into a prefix, or removes it: ./x install, ./x uninstall.
#
#   tools/install.sh install|uninstall [--prefix P]
#
# DESTDIR is put before the prefix, as in makefiles of GNU programs. PLEACH_BIN is the
# directory with the programs [default: target/release]. Programs find their files relative
# to themselves, so the prefix may be moved.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${PLEACH_BIN:-$top/target/release}
prefix=/usr/local

usage() {
    echo "./x: usage: ./x install|uninstall [--prefix P]" >&2
    exit 2
}

action=${1:-}
shift || usage
while [ $# -gt 0 ]; do
    case $1 in
    --prefix) [ $# -gt 1 ] || usage; prefix=$2; shift ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    *) usage ;;
    esac
    shift
done
case $prefix in
/*) ;;
*) echo "./x: --prefix $prefix: must be an absolute path" >&2; exit 2 ;;
esac
root=${DESTDIR:-}$prefix

remove() {
    rm -f "$root"/bin/pleach "$root"/bin/pleach-cc "$root"/bin/pleach-c++ \
        "$root"/share/man/man1/pleach.1 "$root"/share/man/man1/pleach-*.1 \
        "$root/share/bash-completion/completions/pleach" \
        "$root/share/zsh/site-functions/_pleach" \
        "$root/share/fish/vendor_completions.d/pleach.fish"
    rm -rf "$root/lib/pleach" "$root/include/pleach" "$root/share/doc/pleach"
}

add() {
    local program
    for program in pleach pleach-cc; do
        if [ ! -x "$bin/$program" ]; then
            echo "./x: $bin/$program is missing: run ./x build first" >&2
            exit 2
        fi
    done
    umask 022
    # Files of an earlier version.
    remove
    install -d "$root/bin" "$root/lib/pleach" "$root/include" "$root/share/doc/pleach"
    for program in pleach pleach-cc; do
        install -m 755 "$bin/$program" "$root/bin/$program"
        strip --strip-unneeded "$root/bin/$program"
    done
    ln -sf pleach-cc "$root/bin/pleach-c++"
    "$bin/pleach-cc" -fpleach-write-runtime="$root/lib/pleach"
    cp -R "$root"/lib/pleach/*/include "$root/include/pleach"
    "$bin/pleach" share "$root/share"
    install -m 644 "$top/README.md" "$top/CHANGELOG.md" "$top/LICENSE-MIT" "$top/LICENSE-APACHE" \
        "$root/share/doc/pleach"
}

case $action in
install) add ;;
uninstall) remove ;;
*) usage ;;
esac
