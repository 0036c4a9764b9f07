# Property lists, binary and XML: autotools.
program=tools/plistutil
arguments='-i @@'
seeds='test/data/*'
configure='--without-cython'
suite='make check'
