# C++ with exceptions, iostreams and containers: a JSON library, its unit tests,
# and its runner over a directory of documents.
sources=libjsoncpp

build() {
    cmake -G Ninja -S . -B out -DCMAKE_BUILD_TYPE=None \
        -DBUILD_SHARED_LIBS=OFF -DBUILD_OBJECT_LIBS=OFF -DJSONCPP_WITH_POST_BUILD_UNITTEST=OFF
    ninja -C out
}

programs() {
    echo out/bin/jsoncpp_test
    echo out/bin/jsontestrunner_exe
}

check() {
    limited out/bin/jsoncpp_test 2>&1 | awk '
        /^Testing .*: OK/ { name = $2; sub(/:$/, "", name); print "ok unit-" name }
        /^Testing .*: FAILED/ { name = $2; sub(/:$/, "", name); print "not ok unit-" name }' || true
    local document base
    for document in test/data/*.json; do
        base=$(basename "$document" .json)
        same "document-$base" parsed "$document" "$base"
    done
}

# The runner wants a name that ends in .json, and writes its results beside it.
# Behind the name is standard input, so that labels get to it.
parsed() {
    rm -rf documents
    mkdir documents
    ln -s /dev/stdin "documents/$2.json"
    limited out/bin/jsontestrunner_exe "documents/$2.json" <"$1" || echo "status $?"
    cat documents/*.actual* documents/*.rewrite* 2>/dev/null
}
