// The usual way to read everything. It calls no member of a stream, only the
// buffer's virtual functions, which are in the library.
// run
// input: "7*8"
// stdout: "product\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: length: len > 2
// path: length: len <= 3
// path: in[1] == '*'
// free: 0 2
// other: "7+8"
// other: "7*"
#include <iostream>
#include <iterator>
#include <string>

int main() {
    std::string all{std::istreambuf_iterator<char>(std::cin), {}};
    if (all.size() == 3 && all[1] == '*')
        std::cout << "product\n";
    else
        std::cout << "other\n";
    return 0;
}
