// Characters from std::cin by get and peek: the stream's buffer keeps the labels of what was read.
// run
// input: "a//b\nc"
// stdout: "1 2\n"
// exit: 0
// other: "a/-b\nc"
// losses: unmodelled healed
#include <iostream>

int main() {
    std::ios::sync_with_stdio(false);
    int comments = 0, letters = 0;
    char c;
    while (std::cin.get(c)) {
        if (c == '/' && std::cin.peek() == '/') {
            comments++;
            while (std::cin.get(c) && c != '\n') {
            }
        } else if (c >= 'a' && c <= 'z') {
            letters++;
        }
    }
    std::cout << comments << " " << letters << "\n";
    return 0;
}
