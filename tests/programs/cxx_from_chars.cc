// std::from_chars and string_view: header-only number parsing, so instrumented.
// run
// input: "x=-42;"
// stdout: "minus forty-two\n"
// exit: 3
// path: length: len <= 15
// path: len > 0
// path: len != 0
// path: check: len <= 16
// path: pin: len == 6
// path: model: in[0] != '='
// path: model: in[1] == '='
// path: len != 2
// path: in[2] == '-'
// path: len != 3
// path: (uint8_t)(in[3] - '0') < 10
// path: len != 4
// path: (uint8_t)(in[4] - '0') < 10
// path: len != 5
// path: (uint8_t)(in[5] - '0') >= 10
// path: (uint8_t)(in[5] - '0') >= 10
// path: !(umul_overflow32(1, (uint8_t)(in[3] - '0') * 10 + (uint8_t)(in[4] - '0')) || ((uint8_t)(in[3] - '0') * 10 + (uint8_t)(in[4] - '0')) * 1 > 0x80000000)
// path: select: ((uint8_t)(in[3] - '0') * 10 + (uint8_t)(in[4] - '0')) * 1 == 42
// path: select: len != 5
// same: "y=-42;"
// other: "x=-43;"
#include <charconv>
#include <cstdio>
#include <string_view>

int main() {
    char buf[16];
    std::string_view text(buf, std::fread(buf, 1, sizeof buf, stdin));
    auto eq = text.find('=');
    if (eq == text.npos)
        return 1;
    text.remove_prefix(eq + 1);
    int n = 0;
    auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc())
        return 2;
    std::puts(n == -42 ? "minus forty-two" : "other");
    return end == text.data() + text.size() ? 0 : 3;
}
