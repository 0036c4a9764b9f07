var s = "hedge" + 'row';
print(s.length, s[2], s.charAt(3), s.indexOf("row"), s < "hello", "12" * "3", +"", -"x");
print(String(1e21), Number(" 42 "), floor(2.7), "a" == ["a"], void s);
