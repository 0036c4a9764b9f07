// Closures, prototypes, exceptions, switches, loops, operators.
function check(name, value) { print(name + ': ' + value); }

function Counter(start) { this.n = start; }
Counter.prototype.next = function () { return this.n++; };
var c = new Counter(5);
c.next();
check('prototype', c.next() + ' ' + (c instanceof Counter) + ' ' + ('n' in c));

var makers = [];
for (var i = 0; i < 3; ++i) (function (k) { makers.push(function () { return k * k; }); })(i);
check('closures', makers.map(function (f) { return f(); }).join());

function thrower(kind) {
	try {
		if (kind === 1) throw new TypeError('typed');
		if (kind === 2) null.field;
		if (kind === 3) undefinedName;
		if (kind === 4) return 'returned';
		return 'plain';
	} catch (e) {
		return e.name + '/' + (e instanceof TypeError);
	} finally {
		check('finally', kind);
	}
}
for (i = 0; i < 5; ++i) check('throw ' + i, thrower(i));

outer: for (i = 0; i < 4; ++i) {
	for (var j = 0; j < 4; ++j) {
		if (j === 2) continue outer;
		if (i === 3) break outer;
		check('loop', i + ',' + j);
	}
}
function classify(x) {
	switch (x) {
	case 1: case 2: return 'small';
	case 'text': return 'string';
	default: return typeof x;
	case null: return 'null';
	}
}
check('switch', [classify(1), classify(2), classify('text'), classify(null), classify({}), classify(undefined)].join());
check('operators', [7 % 3, -7 % 3, 7 / 2, 1 << 31, -1 >>> 28, -9 >> 1, 5 & 3, 5 | 3, 5 ^ 3, ~5, +'12', -'3', !'', !!'x'].join());
check('comparison', [1 == '1', 1 === '1', null == undefined, NaN == NaN, 'b' > 'a', '10' < '9', 10 < 9].join());
check('arguments', (function () { return arguments.length + ':' + Array.prototype.slice.call(arguments, 1).join(); })(1, 2, 3));
check('apply', Math.max.apply(null, [3, 9, 4]));
check('bind', (function (a, b) { return this.k + a + b; }).bind({ k: 1 }, 2)(3));
check('eval', eval('var q = 6; q * 7'));
check('comma', (1, 2, 3));
check('void', void 0);
check('delete', (function () { var o = { a: 1, b: 2 }; delete o.a; return Object.keys(o).join(); })());
check('getter', (function () { var o = { get x() { return 41; }, set x(v) { this.y = v; } }; o.x = 3; return o.x + o.y; })());
check('define', (function () {
	var o = Object.defineProperty({}, 'k', { value: 1, writable: false });
	o.k = 5;
	return o.k + '' + Object.keys(o).length;
})());
check('recursion', (function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); })(18));
try { (function deep() { deep(); })(); } catch (e) { check('overflow', e.name); }
try { eval('var = 3'); } catch (e) { check('syntax', e.name); }
for (var key in { x: 1, y: 2 }) check('in', key);
with ({ inner: 'scoped' }) check('with', inner);
