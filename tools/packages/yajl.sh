# JSON: CMake.
program=out/yajl-2.1.0/bin/json_verify
arguments=''
system=cmake
seeds='test/parsing/cases/*.json'
