# An awk: plain make, a bison grammar with a scanner by hand.
program=a.out
arguments='-safe -f @@ /dev/null'
seeds='testdir/p.*'
