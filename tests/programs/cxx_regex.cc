// std::regex: the matcher's character classes are table reads.
// run
// input: "ab=12\n"
// stdout: "2\n"
// exit: 0
// path: length: len > 0
// path: in[0] != '\n'
// path: length: len > 1
// path: in[1] != '\n'
// path: length: len > 2
// path: in[2] != '\n'
// path: length: len > 3
// path: in[3] != '\n'
// path: length: len > 4
// path: in[4] != '\n'
// path: length: len > 5
// path: in[5] == '\n'
// path: ((uint64_t)1 << (in[0] & 63) & table_…[(in[0] >> 6) + 15]) != 0
// path: ((uint64_t)1 << (in[1] & 63) & table_…[(in[1] >> 6) + 15]) != 0
// path: ((uint64_t)1 << (in[2] & 63) & table_…[(in[2] >> 6) + 15]) == 0
// path: in[2] == '='
// path: ((uint64_t)1 << (in[3] & 63) & table_…[(in[3] >> 6) + 15]) != 0
// path: ((uint64_t)1 << (in[4] & 63) & table_…[(in[4] >> 6) + 15]) != 0
// must: in[2] == '='
// same: "zz=99\n"
// other: "aB=12\n"
// other: "ab=1x\n"
#include <iostream>
#include <regex>
#include <string>

int main() {
    std::string line;
    std::getline(std::cin, line);
    std::smatch match;
    if (!std::regex_match(line, match, std::regex("([a-z]+)=([0-9]+)")))
        return std::cout << "no\n", 1;
    std::cout << match[1].length() << "\n";
    return 0;
}
