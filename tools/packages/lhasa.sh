# LHA archives: autotools. Its shell scripts start the program some thousand times, one
# after another; of these, one that decodes every archive is run.
program=src/lha
arguments='t @@'
seeds='test/archives/**/*.l*'
suite='make -C test check TESTS="test-crc16 test-basic-reader test-decoder test-print"'
