# Conditions of the C preprocessor: plain make.
program=unifdef
arguments='-DFOO -UBAR @@'
seeds='tests/*.c'
suite='cd tests && for t in *.sh; do sh ./$t >/dev/null 2>&1; diff -q ${t%.sh}.out ${t%.sh}.expout >/dev/null 2>&1 && echo PASS: $t || echo FAIL: $t; done'
