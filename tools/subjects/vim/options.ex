set shiftwidth=2 expandtab tabstop=4 ignorecase
%retab
1,$s/THE/it/
set textwidth=20
normal! gggqG
set list number
set nowrapscan
abbreviate fox cat
map x dd
normal Gx
