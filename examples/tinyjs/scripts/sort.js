var list = [5, 2, 9, 1, 7], i, j, swap;
for (i = 0; i < list.length; i++)
    for (j = i + 1; j < list.length; j++)
        if (list[j] < list[i]) { swap = list[i]; list[i] = list[j]; list[j] = swap; }
print(list);
