# Bibliographies: autotools, hand-written parser.
program=bibclean
seeds='testbib*.org testisxn.org'
