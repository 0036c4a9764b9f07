# A macro processor: autotools and gnulib.
program=src/m4
# Without the macros that run shell commands.
arguments='-Usyscmd -Uesyscmd @@'
seeds='checks/0*'
suite='make -C checks check'
