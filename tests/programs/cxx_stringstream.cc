// Copies all of std::cin into a string stream, and reads words, lines and
// characters from it.
// run
// input: "set x 5\nend"
// stdout: "x is five\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: length: len > 2
// path: length: len > 3
// path: length: len > 4
// path: length: len > 5
// path: length: len > 6
// path: length: len > 7
// path: length: len > 8
// path: length: len > 9
// path: length: len > 10
// path: length: len <= 11
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[1] + 128] & 8192) == 0
// path: (table_…[in[2] + 128] & 8192) == 0
// path: (table_…[in[3] + 128] & 8192) != 0
// path: (table_…[in[3] + 128] & 8192) != 0
// path: (table_…[in[4] + 128] & 8192) == 0
// path: (table_…[in[4] + 128] & 8192) == 0
// path: (table_…[in[5] + 128] & 8192) != 0
// path: (table_…[in[5] + 128] & 8192) != 0
// path: (table_…[in[6] + 128] & 8192) == 0
// path: in[6] != '-'
// path: …
// must: in[0] == 's'
// must: in[6] == '5'
// must: in[8] == 'e'
// same: "set y 5\nend"
// other: "get x 5\nend"
// other: "set x 6\nend"
#include <iostream>
#include <sstream>
#include <string>

int main() {
    std::stringstream all;
    all << std::cin.rdbuf();
    std::string command, name, rest, last;
    int value = 0;
    all >> command >> name >> value;
    std::getline(all, rest);
    std::getline(all, last);
    if (command != "set" || last != "end")
        return std::cout << "no\n", 1;
    std::ostringstream copy;
    for (char c : last)
        copy.put(c);
    copy << name;
    if (copy.str()[0] != 'e')
        return 2;
    std::cout << (value == 5 ? "x is five\n" : "x is not five\n");
    return 0;
}
