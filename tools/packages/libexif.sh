# Exif headers: autotools.
program=test/test-parse
seeds='test/testdata/*.jpg'
configure='--disable-nls'
suite='make -C test check'
targets='check TESTS='
