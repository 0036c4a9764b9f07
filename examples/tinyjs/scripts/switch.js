function name(n) {
    switch (n) {
    case 1: return "one";
    case 2:
    case 3: n += 10; break;
    default: n = "other";
    case 4: n += "!";
    }
    return n;
}
print(name(1), name(2), name(4), name(9));
