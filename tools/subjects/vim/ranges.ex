1move $
2copy 0
/alpha/,/gamma/join
$-1,$delete x
0put x
mark a
'ayank y
$put y
2,5>
%print
global/e/normal! A.
undo
redo
sort
