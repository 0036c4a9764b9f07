# Style sheets: C++.
program=csstidy-bin
arguments='@@'
build() {
    # shellcheck disable=SC2086
    $CXX $CXXFLAGS $LDFLAGS -I csstidy -o csstidy-bin csstidy/*.cpp
}
# ASan stops it on any declaration, see docs/found.md.
make_seeds() { printf 'a[b="c"], .d > e:f {}\n@media p { g {} }\n' >"$1/a.css"; }
