function Point(x, y) { this.x = x; this.y = y; }
var p = new Point(3, 4);
p.length = function () { return this.x * this.x + this.y * this.y; };
print(p.length(), p["x"], typeof p, p.z, delete p.x, p.x, new Point);
