var list = [3, 1, [2, "x"], null];
list[6] = true;
print(list.length, list, list.push(4, 5), list.pop(), list.join("-"));
delete list[0];
print(list[0], list[99]);
