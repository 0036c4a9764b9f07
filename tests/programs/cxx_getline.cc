// std::getline reads lines, and a stringstream reads each line.
// run
// input: "[one]\nx\n[two]\n"
// stdout: "2 3\n"
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
// path: in[0] == '['
// path: in[4] == ']'
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[1] + 128] & 8192) == 0
// path: (table_…[in[2] + 128] & 8192) == 0
// path: (table_…[in[3] + 128] & 8192) == 0
// path: (table_…[in[4] + 128] & 8192) == 0
// path: length: len > 6
// path: in[6] != '\n'
// path: length: len > 7
// path: in[7] == '\n'
// path: …
// other: "[one]\nx y\n[two]\n"
#include <iostream>
#include <sstream>
#include <string>

int main() {
    std::string line;
    int sections = 0, words = 0;
    while (std::getline(std::cin, line)) {
        if (line.size() > 2 && line.front() == '[' && line.back() == ']')
            sections++;
        std::istringstream in(line);
        for (std::string w; in >> w;)
            words++;
    }
    std::cout << sections << " " << words << "\n";
    return 0;
}
