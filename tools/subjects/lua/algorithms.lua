-- Small programs as people write them.
local function queens(n)
    local count, columns, up, down = 0, {}, {}, {}
    local function place(row)
        if row > n then count = count + 1; return end
        for c = 1, n do
            if not columns[c] and not up[row + c] and not down[row - c] then
                columns[c], up[row + c], down[row - c] = true, true, true
                place(row + 1)
                columns[c], up[row + c], down[row - c] = nil, nil, nil
            end
        end
    end
    place(1)
    return count
end
print("queens", queens(7))

local function primes(limit)
    local sieve, found = {}, {}
    for i = 2, limit do
        if not sieve[i] then
            found[#found + 1] = i
            for j = i * i, limit, i do sieve[j] = true end
        end
    end
    return found
end
print("primes", #primes(5000), primes(100)[25])

local function permutations(items, n)
    n = n or #items
    if n <= 1 then coroutine.yield(table.concat(items)) end
    for i = 1, n do
        items[n], items[i] = items[i], items[n]
        permutations(items, n - 1)
        items[n], items[i] = items[i], items[n]
    end
end
local all = {}
for p in coroutine.wrap(function() permutations({ "a", "b", "c", "d" }) end) do all[#all + 1] = p end
table.sort(all)
print("permutations", #all, all[1], all[24])

local function json(value, indent)
    if type(value) ~= "table" then return type(value) == "string" and ("%q"):format(value) or tostring(value) end
    local keys, out = {}, {}
    for k in pairs(value) do keys[#keys + 1] = k end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for _, k in ipairs(keys) do out[#out + 1] = indent .. tostring(k) .. ": " .. json(value[k], indent .. "  ") end
    return "{\n" .. table.concat(out, ",\n") .. "\n" .. indent .. "}"
end
print(json({ name = "x", list = { 1, 2, { deep = true } }, [5] = 2.5 }, ""))

local seed = 42
local function random() seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed end
local histogram = {}
for _ = 1, 2000 do local r = random() % 10; histogram[r] = (histogram[r] or 0) + 1 end
for r = 0, 9 do io.write(histogram[r], " ") end
print()
