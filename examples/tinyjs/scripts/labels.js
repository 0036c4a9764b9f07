outer: for (var i = 0; i < 4; i++) {
    inner: while (true) {
        if (i == 1) continue outer;
        if (i == 3) break outer;
        print(i);
        break inner;
    }
}
block: { print("in"); break block; print("never"); }
