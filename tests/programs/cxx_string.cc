// std::string: short and long (heap) forms, append, find, substr, compare.
// opt: all
// run
// input: "name=a long value that needs the heap\n"
// stdout: "a name\nlong\nends well\n"
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
// path: in[5] != '\n'
// path: length: len > 6
// path: in[6] != '\n'
// path: length: len > 7
// path: in[7] != '\n'
// path: length: len > 8
// path: in[8] != '\n'
// path: length: len > 9
// path: in[9] != '\n'
// path: length: len > 10
// path: in[10] != '\n'
// path: length: len > 11
// path: in[11] != '\n'
// path: …
// same: "name=a long value that needs the heaq\n"
// other: "nome=a long value that needs the heap\n"
#include <cstdio>
#include <string>

int main() {
    std::string line;
    for (int c; (c = std::getchar()) != EOF && c != '\n';)
        line += static_cast<char>(c);
    auto eq = line.find('=');
    if (eq == std::string::npos)
        return std::puts("no ="), 1;
    std::string key = line.substr(0, eq), value = line.substr(eq + 1);
    if (key == "name")
        std::puts("a name");
    else if (key < "n")
        std::puts("a smaller key");
    else
        std::puts("another key");
    value += "!";
    std::puts(value.size() > 15 ? "long" : "short");
    std::puts(value.back() == '!' && !value.empty() ? "ends well" : "impossible");
    return 0;
}
