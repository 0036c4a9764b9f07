# Calendars: autotools, hand-written parser.
program=src/remind
# With a date and a time, its output is the same each time.
arguments='-r -n @@ 2020-02-03 12:00'
seeds='examples/* tests/*.rem'
# Debian's patch has the other programs use a library of JSON.
targets='-C src remind'
