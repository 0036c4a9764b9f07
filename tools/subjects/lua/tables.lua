-- Tables: the array and hash parts, sorting, metatables, iteration.
local function eq(a, b) assert(a == b, tostring(a) .. " ~= " .. tostring(b)) end

local t = {}
for i = 1, 1000 do t[i] = (i * 7919) % 1009 end
table.sort(t)
for i = 2, #t do assert(t[i - 1] <= t[i]) end
table.sort(t, function(x, y) return x > y end)
eq(t[1], 1008)
eq(#t, 1000)
local last = t[#t]
eq(table.remove(t), last)
eq(#t, 999)
eq(table.concat({ 1, 2, 3 }, "-", 2), "2-3")
table.insert(t, 1, "first")
eq(t[1], "first")
eq(select("#", table.unpack({ 1, nil, 3 }, 1, 3)), 3)
eq(table.pack(1, nil, nil).n, 3)
eq(table.concat(table.move({ 1, 2, 3 }, 1, 3, 2), ","), "1,1,2,3")

local words, count = {}, 0
for i = 1, 500 do words["key" .. i] = i end
for i = 1, 500, 2 do words["key" .. i] = nil end
for k, v in pairs(words) do
    count = count + v
    eq("key" .. v, k)
end
eq(count, 62750)

local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({ x = a.x + b.x }, Point) end
Point.__eq = function(a, b) return a.x == b.x end
Point.__lt = function(a, b) return a.x < b.x end
Point.__le = function(a, b) return a.x <= b.x end
Point.__call = function(self, n) return self.x * n end
Point.__tostring = function(self) return "Point " .. self.x end
Point.__len = function(self) return self.x end
Point.__concat = function(a, b) return tostring(a) .. "/" .. tostring(b) end
Point.__unm = function(a) return setmetatable({ x = -a.x }, Point) end
Point.__idiv = function() return "idiv" end
Point.__band = function() return "band" end
Point.__close = function(self) io.write("closed ", self.x, "; ") end
local function point(x) return setmetatable({ x = x }, Point) end

eq(tostring(point(1) + point(2)), "Point 3")
eq(point(4), point(4))
assert(point(1) < point(2) and point(2) <= point(2) and not (point(3) <= point(2)))
eq(point(5)(6), 30)
eq(#point(9), 9)
eq(point(1) .. point(2), "Point 1/Point 2")
eq((-point(3)).x, -3)
eq(point(1) // 2, "idiv")
eq(point(1) & 2, "band")
do
    local first <close> = point(1)
    local second <close> = point(2)
    local limit <const> = 10
    eq(limit, 10)
end

local log = {}
local proxy = setmetatable({}, {
    __index = function(_, k) return k .. "!" end,
    __newindex = function(_, k, v) log[#log + 1] = k .. "=" .. tostring(v) end,
    __pairs = function() return function(_, k) if not k then return 1, "one" end end, nil, nil end,
})
proxy.a = 1
eq(proxy.b, "b!")
eq(log[1], "a=1")
for _, v in pairs(proxy) do eq(v, "one") end
eq(rawget(proxy, "a"), nil)
eq(rawlen({ 1, 2 }), 2)

local weak = setmetatable({}, { __mode = "k" })
weak[{}] = true
collectgarbage()
eq(next(weak), nil)
local finalized = false
setmetatable({}, { __gc = function() finalized = true end })
collectgarbage()
collectgarbage()
assert(finalized)
print("tables")
