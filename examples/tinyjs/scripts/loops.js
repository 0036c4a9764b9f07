var n = 0;
while (n < 3) n++;
do n += 2; while (n < 9);
for (let i = 0, j = 10; i < j; i++, j--) n += j;
for (;;) { if (n-- < 20) break; else continue; }
print(n);
