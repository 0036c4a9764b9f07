// Formatted input from std::cin: integers and words.
// run
// input: "12 apples\n"
// stdout: "many apples\n"
// exit: 0
// path: length: len > 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: in[0] != '-'
// path: in[0] != '+'
// path: in[0] != '.'
// path: in[0] != '0'
// path: (int8_t)in[0] > '/'
// path: in[0] < ':'
// path: in[0] != '/'
// path: length: len > 1
// path: (int8_t)in[1] > '/'
// path: in[1] < ':'
// path: in[1] != '/'
// path: (uint64_t)(in[0] - '0') <= 0xccccccccccccccc
// path: length: len > 2
// path: (int8_t)in[2] <= '/'
// path: !(0 || (uint64_t)0x7fffffffffffffff - (in[0] - '0') < 0 || (uint64_t)0x7fffffffffffffff - (in[1] - '0') < (uint64_t)((in[0] - '0') * 10))
// path: (in[0] - '0') * 10 + (in[1] - '0') >= INT_MIN
// path: (in[0] - '0') * 10 + (in[1] - '0') <= 0x7fffffff
// path: (table_…[in[2] + 128] & 8192) != 0
// path: length: len > 3
// path: (table_…[in[3] + 128] & 8192) == 0
// path: (table_…[in[3] + 128] & 8192) == 0
// path: length: len > 4
// path: …
// other: "12x apples\n"
// other: "7 apples\n"
#include <iostream>
#include <string>

int main() {
    int n;
    std::string what;
    if (!(std::cin >> n >> what)) {
        std::cout << "bad\n";
        return 1;
    }
    std::cout << (n > 10 ? "many " : "few ") << what << "\n";
    return 0;
}
