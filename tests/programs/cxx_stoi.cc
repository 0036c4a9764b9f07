// std::stoi: the header's code is instrumented, calls strtol through a pointer, and throws exceptions for errors.
// run
// input: "42;"
// stdout: "forty-two\n"
// exit: 2
// path: length: len <= 14
// path: len <= 15
// path: len != 1
// path: len != 0
// path: check: len <= 16
// path: check: len <= 16
// path: pin: len == 3
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] != '\0'
// path: length: len <= 3
// path: len + 0x3fffffffffffffff - len >= 3
// path: 3 - len + len <= 15
// path: len == len
// path: pin: 3 - len + len == 3
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') <= 9
// path: model: (uint8_t)(in[1] - '0') <= 9
// path: model: (uint8_t)(in[2] - '0') > 9
// path: (uint8_t)(in[0] - '0') * 10 + (uint8_t)(in[1] - '0') >= INT_MIN
// path: (uint64_t)((int64_t)((uint8_t)(in[0] - '0') * 10 + (uint8_t)(in[1] - '0')) - 0x80000000) >= 0xffffffff00000000
// path: select: (uint8_t)(in[0] - '0') * 10 + (uint8_t)(in[1] - '0') == 42
// other: "43;"
// run
// input: "none"
// stdout: "no number\n"
// exit: 100
// path: length: len <= 14
// path: len <= 15
// path: len != 1
// path: len != 0
// path: check: len <= 16
// path: check: len <= 16
// path: pin: len == 4
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] != '\0'
// path: model: in[3] != '\0'
// path: length: len <= 4
// path: len + 0x3fffffffffffffff - len >= 4
// path: 4 - len + len <= 15
// path: len == len
// path: pin: 4 - len + len == 4
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: model: in[0] != '-'
// path: model: in[0] != '+'
// path: model: (uint8_t)(in[0] - '0') > 9
// run
// input: "99999999999"
// stdout: "too large\n"
// exit: 100
// path: length: len <= 14
// path: len <= 15
// path: len != 1
// path: len != 0
// path: check: len <= 16
// path: check: len <= 16
// path: pin: len == 11
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] != '\0'
// path: model: in[3] != '\0'
// path: model: in[4] != '\0'
// path: model: in[5] != '\0'
// path: model: in[6] != '\0'
// path: model: in[7] != '\0'
// path: model: in[8] != '\0'
// path: model: in[9] != '\0'
// path: model: in[10] != '\0'
// path: length: len <= 11
// path: len + 0x3fffffffffffffff - len >= 11
// path: 11 - len + len <= 15
// path: len == len
// path: pin: 11 - len + len == 11
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: …
#include <cstdio>
#include <stdexcept>
#include <string>

int main() {
    char buf[16] = {};
    std::string text(buf, std::fread(buf, 1, 15, stdin));
    text.assign(buf);
    try {
        std::size_t used = 0;
        int n = std::stoi(text, &used);
        std::puts(n == 42 ? "forty-two" : "other");
        return static_cast<int>(used);
    } catch (const std::invalid_argument &) {
        std::puts("no number");
    } catch (const std::out_of_range &) {
        std::puts("too large");
    }
    return 100;
}
