print(add(2, 3), typeof add, (function (a) { return a; })(4), add(1));
function add(a, b) { return a + b; }
var twice = function again(f, x) { return f(f(x)); };
print(twice(function (n) { return n * n; }, 3));
