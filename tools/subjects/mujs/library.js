// Strings, regular expressions, arrays, numbers, dates, JSON.
function check(name, value) { print(name + ': ' + value); }

check('string', ['abc'.charAt(1), 'abc'.charCodeAt(2), 'a-b-c'.split('-'), 'hello'.indexOf('l'), 'hello'.lastIndexOf('l'),
	' trim '.trim(), 'abcdef'.substring(4, 1), 'abcdef'.slice(-3, -1), 'ÀÉ'.toLowerCase(),
	'a'.localeCompare('b'), 'x'.concat('y', 1), String.fromCharCode(8364)].join('|'));
check('regexp', ['2024-01-31'.match(/(\d+)-(\d+)-(\d+)/).join(), /^[\w.]+@[\w.]+$/.test('a.b@c.org'),
	'aBc'.replace(/b/i, '<$&>'), 'x1y22'.replace(/\d+/g, function (d) { return d * 2; }), 'one  two'.split(/\s+/),
	/a{2,3}/.exec('caaaat')[0], /(a)|b/.exec('b')[1], 'a\nb'.match(/^b$/m)[0], /(?=x)x/.test('x'), /\bword\b/.test('a word'),
	'foo.bar'.search(/\./), /(.)\1/.exec('hello')[0]].join('|'));
check('array', [[3, 1, 2].sort(), [10, 9, 1].sort(function (a, b) { return a - b; }), [1, 2, 3].reverse(),
	[1, 2, 3, 4].filter(function (x) { return x % 2; }), [1, 2, 3].reduce(function (a, b) { return a + b; }),
	[1, 2, 3].some(function (x) { return x > 2; }), [1, 2, 3].every(function (x) { return x > 2; }),
	[1, 2, 3].indexOf(3), [1, 2, 3, 4, 5].splice(1, 2), [1, [2, 3]].concat([4]), [,1].length, [5].unshift(4),
	Array.isArray([]), [1, 2, 3].reduceRight(function (a, b) { return a + '' + b; })].join('|'));
check('number', [(255).toString(16), (0.1 + 0.2).toFixed(2), (1234.5678).toExponential(2), (0.00001).toString(),
	1e21 + '', parseInt('0x1f'), parseInt('12px'), parseFloat('3.5e2x'), Number(''), Number('z'), isNaN('x'),
	(123.456).toPrecision(4), Number.MAX_VALUE, -0 === 0, 1 / -0, 5e-324, 123456789012345680000].join('|'));
check('math', [Math.floor(-1.5), Math.ceil(1.2), Math.round(2.5), Math.abs(-3), Math.pow(2, 10), Math.sqrt(2),
	Math.atan2(1, 1), Math.min(), Math.exp(1).toFixed(8), Math.sin(1).toFixed(8)].join('|'));
check('date', [new Date(0).toISOString(), new Date(Date.UTC(2020, 1, 29, 12, 30, 15)).toISOString(), Date.parse('2001-02-03T04:05:06Z')].join('|'));
check('json', [JSON.stringify({ a: [1, 'two', null, true], b: { c: 1.5 }, d: undefined, e: '\u0007"' }),
	JSON.stringify([1, { x: 2 }], null, 2), JSON.parse('{"k":[1,2,{"z":"\\u0041"}]}').k[2].z].join('|'));
try { JSON.parse('{bad}'); } catch (e) { check('bad json', e.name); }
check('uri', [encodeURIComponent('a b&é'), decodeURIComponent('%E2%82%AC'), encodeURI('http://x/?q=ü')].join('|'));
check('object', [Object.keys({ b: 1, a: 2 }), Object.getPrototypeOf([]) === Array.prototype, Object.isFrozen(Object.freeze({})),
	Object.create({ inherited: 1 }).inherited, ({}).toString(), ({ a: 1 }).hasOwnProperty('a')].join('|'));
check('error', [new Error('text').message, String(new RangeError('r')), typeof new Error().stackTrace].join('|'));
