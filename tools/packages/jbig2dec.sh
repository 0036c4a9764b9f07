# JBIG2 images: plain make.
program=jbig2dec
arguments='-o image.pbm @@'
seeds='annex-h.jbig2'
system=make
build() {
    # shellcheck disable=SC2086
    $CC $CFLAGS $LDFLAGS -DHAVE_STDINT_H -DHAVE_GETOPT_H -o jbig2dec \
        jbig2.c jbig2_arith*.c jbig2_generic.c jbig2_halftone.c jbig2_huffman.c jbig2_hufftab.c \
        jbig2_image.c jbig2_image_pbm.c jbig2_mmr.c jbig2_page.c jbig2_refinement.c \
        jbig2_segment.c jbig2_symbol_dict.c jbig2_text.c jbig2dec.c sha1.c
}
