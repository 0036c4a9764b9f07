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
}
