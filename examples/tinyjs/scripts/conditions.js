var x = 4;
if (x > 3) if (x > 5) print("large"); else print("middle");
if (!x) { print("none"); } else if (x == "4") { print("four"); }
print(x === "4", x != 4, x !== 4, x <= 4 && x >= 4 || false, x ? x < 2 ? "a" : "b" : "c");
