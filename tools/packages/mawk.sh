# An awk: autotools, a yacc grammar and regular expressions of its own.
program=mawk
arguments='-W sandbox -f @@ /dev/null'
seeds='examples/*.awk'
suite='make check'
