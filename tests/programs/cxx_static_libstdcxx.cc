// Linked with -static-libstdc++: the input that std::cin reads still has labels.
// flags: -O1 -static-libstdc++
// run
// input: "open 12\n"
// stdout: "opened\ndozen\n"
// exit: 0
// path: length: len > 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: length: len > 1
// path: (table_…[in[1] + 128] & 8192) == 0
// path: length: len > 2
// path: (table_…[in[2] + 128] & 8192) == 0
// path: length: len > 3
// path: (table_…[in[3] + 128] & 8192) == 0
// path: length: len > 4
// path: (table_…[in[4] + 128] & 8192) != 0
// path: (table_…[in[4] + 128] & 8192) != 0
// path: length: len > 5
// path: (table_…[in[5] + 128] & 8192) == 0
// path: in[5] != '-'
// path: in[5] != '+'
// path: in[5] != '.'
// path: in[5] != '0'
// path: (int8_t)in[5] > '/'
// path: in[5] < ':'
// path: in[5] != '/'
// path: length: len > 6
// path: (int8_t)in[6] > '/'
// path: in[6] < ':'
// path: …
// must: in[0] == 'o'
// other: "oven 12\n"
// other: "open 13\n"
#include <iostream>
#include <string>

int main() {
    std::string word;
    int number = 0;
    if (!(std::cin >> word >> number))
        return 2;
    std::cout << (word == "open" ? "opened\n" : "closed\n");
    std::cout << (number == 12 ? "dozen\n" : "other\n");
    return 0;
}
