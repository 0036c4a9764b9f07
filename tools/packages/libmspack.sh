# Cabinet archives: autotools.
program=examples/cabrip
arguments='@@'
seeds='test/test_files/cabd/*.cab'
suite='make check'
