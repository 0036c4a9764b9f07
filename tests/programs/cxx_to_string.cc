// std::to_string is in a header, so the digits of a labelled number are labelled.
// run
// input: "*!"
// stdout: "42\na star\n"
// exit: 2
// path: length: len > 1
// path: in[0] >= 10
// path: in[0] < 'd'
// path: in[0] <= 'c'
// path: in[0] > 9
// path: _ZZNSt8__detail18__to_chars_10_implIjEEvPcjT_E8__digits[in[0] << 1] == 52 && _ZZNSt8__detail18__to_chars_10_implIjEEvPcjT_E8__digits[(in[0] << 1) + 1]…
// path: select: in[0] == '*'
// must: in[0] == '*'
// other: "+!"
// run
// input: "\x07!"
// stdout: "7\nno star\n"
// exit: 1
// path: length: len > 1
// path: in[0] < 10
// path: in[0] <= 'c'
// path: in[0] <= 9
// path: (in[0] | 48) != 52
// path: (in[0] | 48) != 52
// path: select: in[0] != '*'
#include <cstdio>
#include <string>

int main() {
    unsigned char in[2];
    if (std::fread(in, 1, 2, stdin) != 2)
        return 3;
    std::string text = std::to_string(static_cast<unsigned>(in[0]));
    std::puts(text == "42" ? "42" : text.size() == 1 ? "7" : "more");
    std::puts(in[0] == '*' ? "a star" : "no star");
    return static_cast<int>(text.size());
}
