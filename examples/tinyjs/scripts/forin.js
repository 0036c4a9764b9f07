var o = {b: 1, "c d": 2, 7: 3}, names = [], at = {};
for (var k in o) names.push(k);
for (at.last in o) ;
for (let i in names) print(i, names[i], o[names[i]]);
for (k in "none") print(k);
print(at.last);
