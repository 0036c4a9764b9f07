# LHA archives: autotools.
program=src/lha
arguments='t @@'
seeds='test/archives/**/*.l*'
suite='make check'
