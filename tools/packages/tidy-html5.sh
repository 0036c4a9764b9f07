# HTML: CMake, hand-written parser.
program=out/tidy
arguments='-q @@'
make_seeds() {
    printf '<!DOCTYPE html>\n<html><head><title>t</title></head>\n<body><p class="a">x<b>y</i></b><table><tr><td>1</table>&amp;&eacute;<!-- c --><ul><li>z</ul></body></html>\n' >"$1/page.html"
}
