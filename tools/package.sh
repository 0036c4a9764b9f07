#!/usr/bin/env bash
# Makes two Debian packages in target/package: `pleach`, for searching, and `pleach-cc`, the
# compiler, which needs clang and LLVM. ./x package.
#
#   tools/package.sh [--test]
#
# --test installs them in a fresh root of this release of Debian, which apt's own sources fill,
# with nothing of the source tree in it: first `pleach` alone, which searches a program that
# was compiled here, then `pleach-cc`.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=${PLEACH_BIN:-$top/target/release}
out=${PLEACH_PACKAGES:-$top/target/package}
llvm=22

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$top/Cargo.toml")
arch=$(dpkg --print-architecture)

# Moves files of the stage into a package.
take() {
    local package=$1 path
    shift
    for path in "$@"; do
        mkdir -p "$out/$package/$(dirname "$path")"
        mv "$out/stage/$path" "$out/$package/$(dirname "$path")/"
    done
}

# The packages of the shared libraries that a program is linked to.
libraries() {
    local work
    work=$(mktemp -d)
    mkdir "$work/debian"
    echo "Source: pleach" >"$work/debian/control"
    (cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "-e$1") | sed -n 's/^shlibs:Depends=//p'
    rm -r "$work"
}

# control PACKAGE PROGRAM DESCRIPTION, further fields on standard input.
control() {
    local dir=$out/$1 depends
    mkdir -p "$dir/DEBIAN" "$dir/usr/share/doc/$1"
    depends=$(libraries "$dir/usr/bin/$2")
    {
        echo "MIT or Apache-2.0, as you like."
        cat "$top/LICENSE-MIT" "$top/LICENSE-APACHE"
    } >"$dir/usr/share/doc/$1/copyright"
    {
        cat <<END
Package: $1
Version: $version
Architecture: $arch
Maintainer: ${DEBFULLNAME:-Pleach} <${DEBEMAIL:-pleach@localhost}>
Section: devel
Priority: optional
Installed-Size: $(du -sk --exclude=DEBIAN "$dir" | cut -f1)
END
        sed "s|@LIBRARIES@|$depends|"
        printf 'Description: %s\n' "$3"
    } >"$dir/DEBIAN/control"
    (cd "$dir" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$dir/DEBIAN/md5sums"
}

make_packages() {
    rm -rf "$out"
    mkdir -p "$out"
    DESTDIR=$out/stage PLEACH_BIN=$bin "$top/tools/install.sh" install --prefix /usr
    # Debian's own place for completions of packages.
    mkdir -p "$out/stage/usr/share/zsh/vendor-completions"
    mv "$out/stage/usr/share/zsh/site-functions/_pleach" "$out/stage/usr/share/zsh/vendor-completions/"
    rm -r "$out/stage/usr/share/zsh/site-functions"
    gzip -9n "$out"/stage/usr/share/man/man1/*.1
    take pleach-cc usr/bin/pleach-cc usr/bin/pleach-c++ usr/lib/pleach usr/include/pleach \
        usr/share/man/man1/pleach-cc.1.gz usr/share/man/man1/pleach-c++.1.gz
    take pleach usr
    find "$out/pleach" -type d -empty -delete
    control pleach pleach 'test generation for programs that read structured input
 Searches for inputs that take new branches of a C or C++ program, and for
 crashes. The program is compiled with pleach-cc, here or on another machine.' <<END
Depends: @LIBRARIES@
Suggests: pleach-cc
END
    control pleach-cc pleach-cc 'compiler of Pleach, the test generator
 A drop-in for clang that makes one program with two halves: a fast one with
 branch coverage, and one that follows every byte of the input.' <<END
Depends: @LIBRARIES@, clang-$llvm, lld-$llvm
Recommends: pleach (= $version), libclang-rt-$llvm-dev
END
    local package
    for package in pleach pleach-cc; do
        dpkg-deb --root-owner-group ${PLEACH_COMPRESSION:+-Z$PLEACH_COMPRESSION} \
            --build "$out/$package" "$out" >/dev/null
    done
    rm -r "$out/stage" "$out/pleach" "$out/pleach-cc"
    ls "$out"/*.deb
}

# The release's own entries of this machine, for a root that has the same.
sources() {
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
        --format "deb [signed-by=$keys] \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" | sort -u
}

test_packages() {
    local work codename
    codename=$(. /etc/os-release; echo "$VERSION_CODENAME")
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    mkdir "$work/pleach-test"
    cp "$out"/*.deb "$work/pleach-test/"
    cp "$top/examples/calc/calc.c" "$work/pleach-test/"
    cp -R "$top/examples/calc/seeds" "$work/pleach-test/"
    cp "$top/tools/package-test.sh" "$work/pleach-test/test.sh"
    (cd "$work/pleach-test" && "$bin/pleach-cc" -g -O1 -o compiled calc.c)
    sources >"$work/sources.list"
    if [ ! -s "$work/sources.list" ]; then
        echo "./x: apt-get knows no Debian archive here; run apt-get update first" >&2
        exit 2
    fi
    mmdebstrap --quiet --variant=apt \
        --customize-hook="copy-in '$work/pleach-test' /opt" \
        --customize-hook='chroot "$1" sh /opt/pleach-test/test.sh' \
        "$codename" /dev/null "$work/sources.list"
    echo "the packages work in a fresh root"
}

make_packages
if [ "${1:-}" = --test ]; then
    test_packages
fi
