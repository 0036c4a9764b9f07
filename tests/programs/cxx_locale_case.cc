// Upper and lower case by a locale's facet: lookups in the C library's tables.
// run
// input: "Go!"
// stdout: "go\n"
// exit: 0
// path: length: len > 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: length: len > 1
// path: (table_…[in[1] + 128] & 8192) == 0
// path: length: len > 2
// path: (table_…[in[2] + 128] & 8192) == 0
// path: length: len <= 3
// path: (int8_t)table_…[in[0] + 128] == 103 && (int8_t)table_…[in[1] + 128] == 111
// same: "gO!"
// same: "GO?"
// other: "Ga!"
#include <algorithm>
#include <iostream>
#include <locale>
#include <string>

int main() {
    std::string text;
    std::cin >> text;
    const std::locale &here = std::locale::classic();
    const auto &kinds = std::use_facet<std::ctype<char>>(here);
    kinds.tolower(text.data(), text.data() + text.size());
    std::cout << (text.compare(0, 2, "go") == 0 ? "go\n" : "stay\n");
    return std::toupper('a', here) == 'A' ? 0 : 1;
}
