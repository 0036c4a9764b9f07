# Music in ABC notation: autotools, hand-written parser.
program=abc2midi
arguments='@@ -c'
seeds='samples/*.abc'
