function risky(n) {
    try {
        if (n == 0) return "early";
        if (n == 1) throw "wrong";
        if (n == 2) null.x;
        if (n == 3) nowhere;
        if (n == 4) n();
    } catch (e) {
        return "caught " + e;
    } finally {
        print("finally", n);
    }
    return "late";
}
for (var i = 0; i < 6; i++) print(risky(i));
