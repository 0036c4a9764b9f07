let x = "outer";
{ let x = "inner"; var seen = x; print(x); }
print(x, seen, typeof nobody);
try { early; let early = 1; } catch (e) { print(e); }
global = 5; print(global);
