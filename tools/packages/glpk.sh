# Linear programs and a modelling language: autotools.
program=examples/glpsol
arguments='--check --math @@'
seeds='examples/*.mod'
