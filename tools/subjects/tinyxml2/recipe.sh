# C++ without exceptions: an XML parser and its one large test program.
sources=tinyxml2

build() {
    make CXX="$CXX" CXXFLAGS="$CXXFLAGS -fPIC" xmltest
}

programs() {
    echo xmltest
}

check() {
    mkdir -p resources/out
    limited ./xmltest 2>&1 | awk '
        /^\[pass\]/ { print "ok xmltest-" ++n }
        /^\[fail\]/ { print "not ok xmltest-" ++n "\n# " $0 }
        /^Pass [0-9]+, Fail/ { seen = 1 }
        END { print (seen ? "ok " : "not ok ") "xmltest-reached-its-end" }' || true
    local document
    for document in resources/*.xml "$RECIPE"/../expat/*.xml; do
        same "stdin-$(basename "$document" .xml)" loaded "$document"
    done
}

# With a file's name it only loads the file; it also says how long that took.
loaded() {
    limited ./xmltest /dev/stdin <"$1" | grep ErrorID
}
