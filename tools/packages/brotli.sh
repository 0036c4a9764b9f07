# Compressed files: CMake.
program=out/brotli
arguments='-dc @@'
system=cmake
seeds='tests/testdata/*.compressed*'
suite='ctest --test-dir out'
