# Definitions in ASN.1: autotools, a bison grammar with a scanner by hand.
sources=libtasn1-6
program=src/asn1Parser
arguments='-c @@'
seeds='tests/*.asn examples/*.asn'
configure='--disable-doc --disable-valgrind-tests'
suite='make -C tests check'
grammar=lib/ASN1.y
