# The SQLite shell. A generator beside this file writes a few hundred statements;
# the answer to each is a test, and the plain build is right.
sources=sqlite3

build() {
    ./configure --quiet --disable-tcl --disable-shared --disable-readline --enable-fts4 --enable-rtree
    make sqlite3
}

programs() {
    echo sqlite3
}

check() {
    awk -f "$RECIPE/statements.awk" >"$HERE/statements.sql"
    rm -f check.db
    same_sections stdin ./sqlite3 <"$HERE/statements.sql"
    same_sections file ./sqlite3 check.db ".read $HERE/statements.sql"
}

work() {
    echo ./sqlite3 :memory: "'.read $RECIPE/work.sql'"
}
