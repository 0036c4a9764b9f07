-- CPU-bound: arithmetic, tables, strings and calls.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local sum = fib(31)
for round = 1, 40 do
    local sieve = {}
    for i = 2, 60000 do sieve[i] = true end
    for i = 2, 244 do
        if sieve[i] then for j = i * i, 60000, i do sieve[j] = false end end
    end
    for i = 2, 60000 do if sieve[i] then sum = sum + i end end
end
local words = {}
for i = 1, 120000 do words[i] = ("%d:%x"):format(i * 7919 % 30011, i) end
table.sort(words)
for i = 1, #words, 3 do sum = sum + #words[i]:gsub("%d+", "<%0>") end
print(sum)
