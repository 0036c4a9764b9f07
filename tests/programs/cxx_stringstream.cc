// All of std::cin into a string stream, and out of it again by words, lines and
// characters.
// run
// input: "set x 5\nend"
// stdout: "x is five\n"
// exit: 0
// must: in[0] == 's'
// must: in[6] == '5'
// must: in[8] == 'e'
// free: 4
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
