# Calendars: autotools, hand-written parser.
program=src/remind
arguments='-r -n @@ 2020-02-03'
seeds='examples/* tests/*.rem'
# Debian's patch has the other programs use a library of JSON.
targets='-C src remind'
