# Cabinet archives: autotools.
program=test/cabd_md5
targets='all test/cabd_md5'
arguments='@@'
seeds='test/test_files/cabd/*.cab'
suite='make check'
