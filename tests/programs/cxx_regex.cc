// std::regex: the matcher's character classes are table reads.
// run
// input: "ab=12\n"
// stdout: "2\n"
// exit: 0
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
