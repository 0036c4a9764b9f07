// Small programs as people write them.
function sieve(limit) {
	var found = [], mark = [];
	for (var i = 2; i <= limit; ++i) {
		if (mark[i]) continue;
		found.push(i);
		for (var j = i * i; j <= limit; j += i) mark[j] = true;
	}
	return found;
}
print(sieve(2000).length, sieve(60).join());

function tokenize(text) {
	var out = [], rule = /\s*(\d+\.?\d*|[-+*\/()])/g, m;
	while ((m = rule.exec(text))) out.push(m[1]);
	return out;
}
function evaluate(text) {
	var tokens = tokenize(text), at = 0;
	function primary() {
		var t = tokens[at++];
		if (t === '(') { var v = sum(); ++at; return v; }
		return t === '-' ? -primary() : Number(t);
	}
	function product() {
		var v = primary();
		while (tokens[at] === '*' || tokens[at] === '/') v = tokens[at++] === '*' ? v * primary() : v / primary();
		return v;
	}
	function sum() {
		var v = product();
		while (tokens[at] === '+' || tokens[at] === '-') v = tokens[at++] === '+' ? v + product() : v - product();
		return v;
	}
	return sum();
}
print(evaluate('1 + 2 * (3 - -4) / 2'), evaluate('2*(3+4)*5'));

var tree = null, order = [];
function insert(node, k) {
	if (!node) return { k: k };
	if (k < node.k) node.l = insert(node.l, k); else node.r = insert(node.r, k);
	return node;
}
function walk(node) { if (node) { walk(node.l); order.push(node.k); walk(node.r); } }
var seed = 17;
for (var i = 0; i < 60; ++i) { seed = (seed * 69069 + 1) % 4294967296; tree = insert(tree, seed % 1000); }
walk(tree);
print(order.join());

function life(rows, steps) {
	for (; steps > 0; --steps) {
		rows = rows.map(function (row, y) {
			return row.split('').map(function (cell, x) {
				var n = 0;
				for (var dy = -1; dy <= 1; ++dy)
					for (var dx = -1; dx <= 1; ++dx)
						if ((dx || dy) && rows[y + dy] && rows[y + dy].charAt(x + dx) === '#') ++n;
				return n === 3 || (n === 2 && cell === '#') ? '#' : '.';
			}).join('');
		});
	}
	return rows.join('\n');
}
print(life(['.#......', '..#.....', '###.....', '........', '........', '........'], 8));
