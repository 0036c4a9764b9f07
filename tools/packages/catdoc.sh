# Spreadsheets as text: autotools, a binary format inside OLE.
program=src/xls2csv
suite='src/catdoc README'
# It ships no test data: a BIFF stream with one cell.
make_seeds() {
    printf '\x09\x08\x10\0\0\x06\x10\0\xbb\x0d\xcc\x07\0\0\0\0\x06\0\0\0\x03\x02\x0e\0\0\0\0\0\x0f\0\0\0\0\0\0\0\xf0\x3f\x0a\0\0\0' >"$1/one-cell.xls"
}
