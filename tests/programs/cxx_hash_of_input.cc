// The hash of a string from the input is an expression, because the library's
// std::hash is instrumented.
// run
// input: "ab\n"
// stdout: "odd\n"
// exit: 0
// path: length: len > 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: length: len > 1
// path: (table_…[in[1] + 128] & 8192) == 0
// path: length: len > 2
// path: (table_…[in[2] + 128] & 8192) != 0
// path: in[0] == 'a'
// path: select: (((((in[1] << 8 | (in[0] | 0)) ^ 0x8d494f2670acba2d) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[1] << 8 | (in[0] | 0)) ^ 0x8d494f2670acba2d) * 0xc6a4a7…
// same: "ah\n"
// other: "aa\n"
#include <functional>
#include <iostream>
#include <string>

int main() {
    std::string word;
    std::cin >> word;
    if (word.size() != 2 || word[0] != 'a')
        return 1;
    std::cout << (std::hash<std::string>()(word) & 1 ? "odd\n" : "even\n");
    return 0;
}
