-- Patterns, formats, packing and conversion of strings.
local function eq(a, b) assert(a == b, ("%s ~= %s"):format(tostring(a), tostring(b))) end

eq(("hello world"):find("o w"), 5)
eq(("hello"):find("l+"), 3)
eq(("a.b"):find(".", 1, true), 2)
eq(("key = value"):match("^(%w+)%s*=%s*(%w+)$"), "key")
eq(select(2, ("key = value"):match("^(%w+)%s*=%s*(%w+)$")), "value")
eq(("f(a(b)c)d"):match("%b()"), "(a(b)c)")
eq(("THE (quick) fox"):find("%((%a+)%)"), 5)
eq(("hello world"):gsub("o", "0"), "hell0 w0rld")
eq(("abc"):gsub("%w", "%0%0"), "aabbcc")
eq(("$name is $age"):gsub("%$(%w+)", { name = "Ann", age = "7" }), "Ann is 7")
eq(("abc"):gsub("", "-"), "-a-b-c-")
eq(("THE END"):gsub("%f[%a]%a+", string.lower), "the end")
eq(("x"):rep(3, ","), "x,x,x")
eq(("abc"):reverse(), "cba")
eq(("AbC"):lower() .. ("AbC"):upper(), "abcABC")
eq(("abc"):byte(-1), 99)
eq(string.char(72, 105), "Hi")
eq(("abcdef"):sub(-3, -2), "de")
eq(#"\u{10FFFF}\x41\065\z
    end", 9)

eq(("%5d|%-5d|%05d|%+d"):format(42, 42, 42, 42), "   42|42   |00042|+42")
eq(("%x %X %o %c"):format(255, 255, 8, 65), "ff FF 10 A")
eq(("%.3f %g %e"):format(3.14159, 1e20, 12345.678), "3.142 1e+20 1.234568e+04")
eq(("%q"):format('a "quoted"\nline\0'), '"a \\"quoted\\"\\\nline\\0"')
eq(("%s %s"):format(nil, true), "nil true")
eq(("%a"):format(0.5), "0x1p-1")
eq(("%10.4s|"):format("abcdefgh"), "      abcd|")

eq(tostring(10 // 3) .. tostring(10.0 // 3), "33.0")
eq(tonumber("0x1p4"), 16.0)
eq(tonumber("  12  "), 12)
eq(tonumber("1e1"), 10.0)
eq(tonumber("zz", 36), 1295)
eq(tonumber("12a"), nil)
eq("10" + 5, 15)
eq(10 .. "", "10")

eq(string.pack("<i4", 0x01020304), "\4\3\2\1")
eq(string.unpack(">I2", "\1\2"), 258)
eq(string.packsize("!8 b i8"), 16)
local packed = string.pack("z s1 d", "zero", "sized", 2.5)
local a, b, c = string.unpack("z s1 d", packed)
eq(a .. b .. c, "zerosized2.5")

eq(utf8.char(233, 8364, 128512), "é€😀")
eq(utf8.len("é€😀"), 3)
eq(utf8.codepoint("€"), 8364)
eq(utf8.len("\xff"), nil)
local codes = {}
for _, code in utf8.codes("aé€") do codes[#codes + 1] = code end
eq(table.concat(codes, ","), "97,233,8364")

for word in ("one two  three"):gmatch("%S+") do io.write(word, ";") end
print(" strings")
