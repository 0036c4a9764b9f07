// Multiple and virtual inheritance, dynamic_cast and typeid: adjusted pointers and thunks.
// opt: all
// run
// input: "r"
// stdout: "reads\none\n"
// exit: 0
// path: length: len > 0
// path: in[0] != 'w'
// path: in[0] != 'b'
// path: select: in[0] + 1 <= 200
// other: "w"
// run
// input: "b"
// stdout: "reads much\nwrites b\nboth\n"
// exit: 0
// path: length: len > 0
// path: in[0] != 'w'
// path: in[0] == 'b'
// path: select: in[0] * 3 > 200
// path: select: in[0] == 'b'
#include <cstdio>
#include <typeinfo>

struct Device { int id; virtual ~Device() {} };
struct Reader : virtual Device { virtual int read() { return id + 1; } };
struct Writer : virtual Device { virtual int write() { return id + 2; } };
struct Both : Reader, Writer {
    int read() override { return id * 3; }
};

int main() {
    int c = std::getchar();
    Reader r;
    Writer w;
    Both b;
    Device *d = &r;
    if (c == 'w')
        d = &w;
    else if (c == 'b')
        d = &b;
    d->id = c;
    if (auto *x = dynamic_cast<Reader *>(d))
        std::puts(x->read() > 200 ? "reads much" : "reads");
    if (auto *x = dynamic_cast<Writer *>(d))
        std::puts(x->write() == 'b' + 2 ? "writes b" : "writes");
    std::puts(typeid(*d) == typeid(Both) ? "both" : "one");
    return 0;
}
