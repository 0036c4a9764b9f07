# Mail of Outlook (TNEF): autotools, a binary format.
program=ytnef/ytnef
seeds='test-data/*.tnef test-data/winmail.dat'
suite='cd test-data && sh test.sh'
