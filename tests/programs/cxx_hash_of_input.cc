// The hash of a string from the input is an expression: std::hash is the
// library's, and decides like any other function.
// run
// input: "ab\n"
// stdout: "odd\n"
// exit: 0
// same: "an\n"
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
