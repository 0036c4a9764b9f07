function f() {
    for (;;) {
        try { return 1; } finally { break; }
    }
    try { throw 2; } finally { return 3; }
}
print(f());
next: for (var i = 0; i < 3; i++) {
    try { if (i == 1) continue next; print(i); } finally { print("left", i); }
}
