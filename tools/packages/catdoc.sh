# Spreadsheets as text: autotools, a binary format inside OLE.
program=installed/bin/xls2csv
# It reads its character sets where it is installed.
build() {
    ./configure --prefix="$HERE/installed" --disable-wordview
    make
    make install
}
# It ships no test data: an OLE file with a workbook of two cells.
make_seeds() {
    python3 - "$1/cells.xls" <<'END'
import struct, sys
free, end, fat = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
def words(values, count):
    return struct.pack("<%dI" % count, *(values + [free] * (count - len(values))))
def entry(name, kind, child, start, size):
    text = (name + "\0").encode("utf-16-le")
    return struct.pack("<64sHBBIII36xIII", text, len(text), kind, 1, free, free, child, start, size, 0)
def record(kind, data):
    return struct.pack("<HH", kind, len(data)) + data
head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack(
    "<HHHHH6xIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, end, 0, end, 0, 0)
book = record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 6))
book += record(0xFC, struct.pack("<IIHB", 1, 1, 2, 0) + b"ab") + record(0x0A, b"")
book += record(0x809, struct.pack("<HHHHII", 0x600, 16, 0, 0, 0, 6))
book += record(0x203, struct.pack("<HHHd", 0, 0, 15, 1.5)) + record(0xFD, struct.pack("<HHHI", 0, 1, 15, 0))
book += record(0x0A, b"")
with open(sys.argv[1], "wb") as out:
    out.write(head + words([], 108) + words([fat, end] + list(range(3, 10)) + [end], 128))
    out.write(entry("Root Entry", 5, 1, end, 0) + entry("Workbook", 2, free, 2, 4096) + bytes(256))
    out.write(book.ljust(4096, b"\0"))
END
}
