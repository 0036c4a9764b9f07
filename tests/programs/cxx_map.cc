// std::map keyed by input words: the comparisons of the tree are the decisions.
// run
// input: "b a c b\n"
// stdout: "1:1 1:2 1:1 \n"
// exit: 0
// path: length: len > 0
// path: in[0] != ' '
// path: in[0] != '\n'
// path: length: len > 1
// path: in[1] == ' '
// path: length: len > 2
// path: in[2] != ' '
// path: in[2] != '\n'
// path: length: len > 3
// path: in[3] == ' '
// path: model: in[0] != in[2]
// path: in[0] - in[2] != 0
// path: in[0] - in[2] > -1
// path: model: in[2] != in[0]
// path: in[2] - in[0] != 0
// path: in[2] - in[0] < 0
// path: model: in[2] != in[0]
// path: in[2] - in[0] != 0
// path: in[2] - in[0] < 0
// path: length: len > 4
// path: in[4] != ' '
// path: in[4] != '\n'
// path: length: len > 5
// path: in[5] == ' '
// path: …
// same: "d a e d\n"
// other: "b a c a\n"
// losses: unmodelled
#include <cstdio>
#include <map>
#include <string>

int main() {
    std::map<std::string, int> count;
    std::string word;
    for (int c; (c = std::getchar()) != EOF;) {
        if (c == ' ' || c == '\n') {
            if (!word.empty())
                ++count[word];
            word.clear();
        } else {
            word += static_cast<char>(c);
        }
    }
    for (auto &[key, n] : count)
        std::printf("%zu:%d ", key.size(), n);
    std::puts("");
    return 0;
}
