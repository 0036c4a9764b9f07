# A macro processor: autotools and gnulib.
program=src/m4
arguments='@@'
seeds='checks/0*'
suite='make -C checks check'
