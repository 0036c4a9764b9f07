// get and peek on std::cin: the stream's buffer keeps the labels of the characters.
// run
// input: "a//b\nc"
// stdout: "1 2\n"
// exit: 0
// path: length: len <= 8190
// path: (int)len != -1
// path: len != 0
// path: len > 0
// path: len > 0
// path: in[0] != '/'
// path: (int8_t)in[0] > '`'
// path: in[0] < '{'
// path: len + 0x… > 0x…
// path: in[1] == '/'
// path: len + 0x… > 0x…
// path: in[2] == '/'
// path: len + 0x… > 0x…
// path: in[2] != '\n'
// path: len + 0x… > 0x…
// path: in[3] != '\n'
// path: len + 0x… > 0x…
// path: in[4] == '\n'
// path: len + 0x… > 0x…
// path: in[5] != '/'
// path: (int8_t)in[5] > '`'
// path: in[5] < '{'
// path: len + 0x… <= 0x…
// path: len + 0x… <= 0x…
// other: "a/-b\nc"
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
