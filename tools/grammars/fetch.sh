# Fetches what ./x grammars reads: `fetch.sh KIND:NAME DIRECTORY`. Crates come
# with the build of tools/grammars/tree-sitter.
set -euo pipefail
kind=${1%%:*} name=${1#*:} to=$2
[ -d "$to" ] && exit
work=$to.new
rm -rf "$work"
mkdir -p "$work/download"

case $kind in
debian)
    # shellcheck source=/dev/null
    . "$(dirname "${BASH_SOURCE[0]}")/../debian.sh"
    private_apt
    cd "$work/download"
    # A mirror may lack what Debian adds; the grammars are in what it adds to.
    debian_source "$name" || true
    if ! dpkg-source --no-check -x ./*.dsc "$work/tree" 2>/dev/null; then
        rm -rf "$work/tree"
        mkdir "$work/tree"
        for archive in ./*.orig.tar.*; do
            case $archive in
            *.asc) ;;
            *) tar xf "$archive" -C "$work/tree" --strip-components 1 ;;
            esac
        done
    fi
    ;;
pypi)
    python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work/download" "$name"
    python3 -m zipfile -e "$work"/download/*.whl "$work/tree"
    python3 "$(dirname "${BASH_SOURCE[0]}")/extract.py" "$work/tree"
    ;;
*)
    echo "fetch.sh: $1 is neither debian: nor pypi:" >&2
    exit 2
    ;;
esac
mv "$work/tree" "$to"
rm -rf "$work"
