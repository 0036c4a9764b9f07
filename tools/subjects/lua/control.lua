-- Closures, coroutines, errors, goto, numeric edges, load.
local function eq(a, b) assert(a == b, tostring(a) .. " ~= " .. tostring(b)) end

local function counter()
    local n = 0
    return function() n = n + 1; return n end
end
local one, two = counter(), counter()
one(); one()
eq(one() .. two(), "31")

local generate = coroutine.wrap(function(a)
    local b = coroutine.yield(a + 1)
    local c = coroutine.yield(b * 2)
    return c, "done"
end)
eq(generate(1), 2)
eq(generate(10), 20)
eq(select(2, generate(0)), "done")
local co = coroutine.create(function() error({ code = 7 }) end)
local ok, problem = coroutine.resume(co)
eq(ok, false)
eq(problem.code, 7)
eq(coroutine.status(co), "dead")
local inner = coroutine.wrap(function()
    for i = 1, 3 do pcall(function() coroutine.yield(i) end) end
end)
eq(inner() + inner() + inner(), 6)

eq(select(2, pcall(error, "message", 0)), "message")
eq(select(2, pcall(function() local x = nil; return x.field end)):match("attempt to index"), "attempt to index")
eq(select(2, xpcall(function() error("deep") end, function(m) return "handled: " .. m:match("deep") end)), "handled: deep")
local function overflow(n) return overflow(n + 1) + 1 end
eq(select(2, pcall(overflow, 1)):match("stack overflow"), "stack overflow")
eq(select(2, pcall(string.rep, "x", -1)), "")
eq(pcall(string.rep), false)

local out = {}
for i = 1, 10 do
    if i % 2 == 0 then goto continue end
    out[#out + 1] = i
    ::continue::
end
eq(table.concat(out, ""), "13579")
local steps = 0
for x = 1.0, 0, -0.25 do steps = steps + 1 end
eq(steps, 5)
local i = 0
repeat local done = i >= 3; i = i + 1 until done
eq(i, 4)

eq(math.maxinteger + 1, math.mininteger)
eq(7 // -2, -4)
eq(7 % -3, -2)
eq(-7 % 3, 2)
eq(5.5 % 2, 1.5)
eq(1 << 63, math.mininteger)
eq(1 << 64, 0)
eq(-1 >> 60, 15)
eq(~5 & 0xFF ~ 3, 249)
eq(3 | 12, 15)
eq(2 ^ 10, 1024.0)
eq(math.type(3), "integer")
eq(math.type(3.0), "float")
eq(math.tointeger(3.0), 3)
eq(math.tointeger("x"), nil)
eq(math.floor(-3.5), -4)
eq(math.ult(1, -1), true)
eq(math.fmod(-7, 3), -1)
eq(pcall(function() return 1 // 0 end), false)
eq(1 / 0, math.huge)
assert(0 / 0 ~= 0 / 0)
eq(string.format("%.10f", math.sin(1) ^ 2 + math.cos(1) ^ 2), "1.0000000000")
eq(tostring(math.pi):sub(1, 10), "3.14159265")

eq(load("return 1 + 1")(), 2)
eq(load("syntax error here"), nil)
eq(load(function() return nil end) ~= nil, true)
local env = { y = 5 }
eq(load("return y", "chunk", "t", env)(), 5)
eq(load(string.dump(function(a) return a * 3 end))(4), 12)
eq(#debug.traceback("trace") > 5, true)
eq(debug.getinfo(1, "l").currentline ~= nil, true)
local function variadic(...) return select("#", ...), ... end
eq(select("#", variadic(nil, nil)), 3)
eq((variadic(1, 2, 3)), 3)
assert(os.time({ year = 2020, month = 1, day = 1, hour = 12 }) > 0)
eq(os.date("!%Y-%m-%d", 86400), "1970-01-02")
local name = os.tmpname()
local file = assert(io.open(name, "w+"))
file:write("line 1\n", 2, "\n", 3.5, "\nrest of it")
file:seek("set")
eq(file:read("l"), "line 1")
eq(file:read("n"), 2)
eq(file:read("n"), 3.5)
eq(file:read("a"), "\nrest of it")
file:close()
for line in io.lines(name) do io.write(line, ";") end
os.remove(name)
print(" control")
