# YAML: C++ under CMake.
program=out/util/parse
arguments=''
configure='-DYAML_CPP_BUILD_TESTS=OFF -DYAML_BUILD_SHARED_LIBS=OFF'
make_seeds() {
    printf -- '- a: 1\n  b: [x, "y\\n", {c: d}]\n- |\n  text\n- &n !t ~\n- *n\n' >"$1/list.yaml"
    printf -- '%%YAML 1.2\n---\n? k\n: >-\n  folded\n  text\n...\n' >"$1/document.yaml"
}
