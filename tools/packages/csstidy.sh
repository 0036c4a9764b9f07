# Style sheets: C++.
program=csstidy-bin
arguments='@@'
build() {
    # shellcheck disable=SC2086
    $CXX $CXXFLAGS $LDFLAGS -I csstidy -o csstidy-bin csstidy/*.cpp
}
make_seeds() { printf '@import "a.css";\n/* c */\na:hover, .b > c[d="e"] { color : #FFAABB; margin: 0px 1px 0 1px !important }\n@media print { p { font: bold 1.50em/2 "x", serif } }\n' >"$1/a.css"; }
