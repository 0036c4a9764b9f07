// Input goes through a file by the streams of C++.
// seed: "abc 12 xyz"
// goals: 3
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char **argv) {
    int goal = argc > 1 ? std::atoi(argv[1]) : 0;
    std::string word, number, last;
    if (!(std::cin >> word >> number >> last))
        return 0;
    {
        std::ofstream out("note");
        out << word << '\n' << number << '\n';
        out.write(last.data(), 2);
    }
    std::ifstream in("note");
    std::string back;
    int n = 0;
    std::getline(in, back);
    if (goal == 0 && back == "key")
        std::abort();
    in >> n;
    if (goal == 1 && n == 77)
        std::abort();
    in >> back;
    if (goal == 2 && back == "ok")
        std::abort();
    return 0;
}
