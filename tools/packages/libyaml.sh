# YAML: autotools.
program=tests/run-parser
seeds='examples/*.yaml'
suite='make check'
targets='check TESTS='
