// After sync_with_stdio(false) std::cin has its own buffer, which read fills.
// run
// input: "key=value\nq\n"
// stdout: "value 2\n"
// exit: 0
// path: length: len <= 8190
// path: (int)len != -1
// path: len != 0
// path: len > 0
// path: len > 0
// path: in[0] != '\n'
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: in[1] != '\n'
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: in[2] != '\n'
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: in[3] != '\n'
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: in[4] != '\n'
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: in[5] != '\n'
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: in[6] != '\n'
// path: …
// must: in[0] == 'k'
// must: in[3] == '='
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
