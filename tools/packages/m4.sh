# A macro processor: autotools and gnulib.
program=src/m4
# Without the macros that run shell commands.
arguments='-Usyscmd -Uesyscmd @@'
seeds='checks/0*'
targets='MAKEINFO=true'
suite='make -C checks check'
