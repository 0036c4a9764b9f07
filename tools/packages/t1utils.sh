# Type 1 fonts: autotools, hand-written parser.
program=t1asm
arguments='@@ font.out'
make_seeds() {
    printf '%%!PS-AdobeFont-1.0: F\n/FontName /F def\n/FontBBox {0 0 9 9} def\ncurrentdict end\ncurrentfile eexec\ndup /Private 8 dict dup begin\n/RD {string currentfile exch readstring pop} executeonly def\n/lenIV 4 def\n/Subrs 1 array\ndup 0 {\n\t3 0 callothersubr\n\treturn\n\t} ND\n2 index /CharStrings 1 dict dup begin\n/a {\n\t0 500 hsbw\n\t10 20 rmoveto\n\tclosepath\n\tendchar\n\t} ND\nend\nmark currentfile closefile\ncleartomark\n' >"$1/font"
}
# memmem is declared only then.
export CFLAGS="$CFLAGS -D_GNU_SOURCE"
