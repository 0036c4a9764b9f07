# A JavaScript interpreter: plain make.
program=duk
targets='-f Makefile.cmdline'
seeds='*.js examples/**/*.js polyfills/*.js'
