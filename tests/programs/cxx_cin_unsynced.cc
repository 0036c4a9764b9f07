// After sync_with_stdio(false) std::cin has a buffer of its own, filled by read.
// run
// input: "key=value\nq\n"
// stdout: "value 2\n"
// exit: 0
// must: in[0] == 'k'
// must: in[3] == '='
// free: 5
// same: "key=valux\nq\n"
// other: "kez=value\nq\n"
// other: "key=value\nr\n"
#include <iostream>
#include <string>

int main() {
    std::ios::sync_with_stdio(false);
    std::string line;
    int lines = 0;
    bool found = false;
    while (std::getline(std::cin, line)) {
        lines++;
        if (line == "q")
            break;
        auto at = line.find('=');
        if (at != std::string::npos && line.substr(0, at) == "key")
            found = true;
    }
    if (line != "q")
        return 1;
    std::cout << (found ? "value " : "nothing ") << lines << "\n";
    return 0;
}
