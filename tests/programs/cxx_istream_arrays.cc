// Unformatted input into arrays: getline with a limit, ignore up to a
// delimiter, get, putback, and a word with a width.
// run
// input: "abcdef;skip:xy zz"
// stdout: "abc|def|y|zz\n"
// exit: 0
// path: length: len > 0
// path: in[0] != ';'
// path: length: len > 1
// path: in[1] != ';'
// path: length: len > 2
// path: in[2] != ';'
// path: length: len > 3
// path: in[3] != ';'
// path: in[3] != ';'
// path: length: len > 4
// path: in[4] != ';'
// path: length: len > 5
// path: in[5] != ';'
// path: length: len > 6
// path: in[6] == ';'
// path: length: len > 7
// path: in[7] != ':'
// path: length: len > 8
// path: in[8] != ':'
// path: length: len > 9
// path: in[9] != ':'
// path: length: len > 10
// path: in[10] != ':'
// path: length: len > 11
// path: …
// must: in[6] == ';'
// must: in[11] == ':'
// other: "abcdefg;skip:xy zz"
// other: "abcdef;skip-xy zz"
#include <iomanip>
#include <iostream>

int main() {
    char first[4], second[8], word[8];
    std::cin.getline(first, sizeof first, ';');
    std::cin.clear();
    std::cin.getline(second, sizeof second, ';');
    std::cin.ignore(100, ':');
    int c = std::cin.get();
    if (c != 'x')
        return std::cout << "no x\n", 1;
    std::cin.putback('x');
    std::cin.ignore(1);
    char y;
    std::cin.get(y);
    std::cin >> std::setw(sizeof word) >> word;
    if (word[0] != 'z')
        return std::cout << "no z\n", 1;
    std::cout << first << "|" << second << "|" << y << "|" << word << "\n";
    return 0;
}
