# Bitmaps as outlines: autotools.
program=src/potrace
arguments='-s -o - @@'
seeds='check/data/*'
suite='make check'
