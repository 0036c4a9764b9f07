// std::unordered_map: the hash is computed in the library, concretely; equality is still decided.
// run
// input: "kk"
// stdout: "1\n"
// exit: 0
// path: length: len > 0
// path: in[0] != -1
// path: length: len > 1
// path: in[1] != -1
// path: length: len <= 2
// losses: unmodelled pinned healed
// diverges: the hash function is in the library, without instrumentation
#include <cstdio>
#include <string>
#include <unordered_map>

int main() {
    std::unordered_map<std::string, int> seen;
    int repeats = 0;
    for (int c; (c = std::getchar()) != EOF;)
        repeats += ++seen[std::string(1, static_cast<char>(c))] > 1;
    std::printf("%d\n", repeats);
    return 0;
}
