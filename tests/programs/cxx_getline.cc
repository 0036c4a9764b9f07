// std::getline over lines, and a stringstream over each.
// run
// input: "[one]\nx\n[two]\n"
// stdout: "2 3\n"
// exit: 0
// losses: unmodelled healed
// diverges: std::getline is in the library, without instrumentation
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
