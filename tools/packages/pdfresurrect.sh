# Versions inside PDF documents: autotools.
program=pdfresurrect
arguments='@@ -q'
# It wants at least 1024 bytes.
make_seeds() {
    printf '%%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\nxref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000054 00000 n \ntrailer\n<</Size 3/Root 1 0 R/Info 2 0 R>>\nstartxref\n101\n%%%%EOF\n%1024s' "" >"$1/empty.pdf"
}
