// CPU-bound: calls, arithmetic, arrays, properties, strings.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
var sum = fib(27);
for (var round = 0; round < 4; ++round) {
	var mark = [], i, j;
	for (i = 2; i < 20000; ++i) {
		if (mark[i]) continue;
		sum += i;
		for (j = i * 2; j < 20000; j += i) mark[j] = 1;
	}
}
var table = {};
for (i = 0; i < 20000; ++i) table['k' + (i * 7919 % 5003)] = i;
for (var k in table) sum += table[k] + k.length;
var text = '';
for (i = 0; i < 300; ++i) text += i.toString(16).replace(/[a-f]/g, function (c) { return c.toUpperCase(); });
print(sum, text.length);
