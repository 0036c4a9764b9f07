var found = [];
search: for (var n = 2; found.length < 10; n++) {
    for (var i = 0; i < found.length; i++) if (n % found[i] == 0) continue search;
    found.push(n);
}
print(found);
