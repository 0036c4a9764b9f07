const one = 1, text = "a\tb\\\"c\"";
print(one, text, 'it\'s', "\x", '');
