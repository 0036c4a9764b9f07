// std::optional and std::variant are made from the input and visited.
// opt: all
// run
// input: "i7"
// stdout: "large int\n"
// exit: 1
// path: length: len > 0
// path: length: len > 1
// path: in[0] == 'i'
// path: in[1] > '/'
// path: in[1] < ':'
// path: switch: (uint64_t)(uint32_t)(in[1] - '0') >> 32 == 0
// path: select: (int)(uint32_t)(in[1] - '0') > 5
// same: "i8"
// other: "c7"
// run
// input: "-"
// stdout: "nothing\n"
// exit: 3
// path: length: len > 0
// path: length: len <= 1
// path: in[0] != 'i'
// path: in[0] != 'c'
#include <cstdio>
#include <optional>
#include <variant>

using Value = std::variant<int, char>;

static std::optional<Value> parse() {
    int kind = std::getchar(), c = std::getchar();
    if (kind == 'i' && c >= '0' && c <= '9')
        return Value(c - '0');
    if (kind == 'c' && c != EOF)
        return Value(static_cast<char>(c));
    return std::nullopt;
}

struct Show {
    int operator()(int n) const { return std::puts(n > 5 ? "large int" : "int"), 1; }
    int operator()(char c) const { return std::puts(c == 'x' ? "x" : "char"), 2; }
};

int main() {
    auto v = parse();
    if (!v)
        return std::puts("nothing"), 3;
    return std::visit(Show{}, *v);
}
