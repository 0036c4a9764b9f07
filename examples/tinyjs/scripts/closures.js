function counter(from) {
    let n = from;
    return {up: function () { return ++n; }, down: function () { return --n; }};
}
const c = counter(10);
c.up();
c.up();
print(c.down());
