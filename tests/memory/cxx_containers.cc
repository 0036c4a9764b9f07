// Vectors, strings, arrays and maps of C++ at places that the input gives.
// seed: "abcdefgh"
// goals: 5
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

int main(int argc, char **argv) {
    int goal = argc > 1 ? std::atoi(argv[1]) : 0;
    unsigned char in[8];
    if (read(0, in, 8) != 8)
        return 0;
    std::vector<int> numbers(16);
    numbers[in[0] % 16] = 5;
    if (goal == 0 && numbers[11] == 5)
        std::abort();
    std::string text(reinterpret_cast<char *>(in), 8);
    if (goal == 1 && in[1] < 8 && text[in[1]] == '!')
        std::abort();
    std::array<unsigned char, 8> order{};
    for (int i = 0; i < 8; i++)
        order[i] = in[i] & 7;
    if (goal == 2 && order[order[order[0]]] == 6 && order[0] == 3)
        std::abort();
    std::map<int, int> map;
    for (int i = 0; i < 3; i++)
        map[in[i]] = i;
    if (goal == 3 && map.count(in[7]) && map[in[7]] == 2)
        std::abort();
    std::deque<unsigned char> queue;
    for (unsigned char c : in)
        queue.push_back(c);
    if (goal == 4 && queue.at(in[5] & 7) == 'Z' && (in[5] & 7) != 5)
        std::abort();
    return 0;
}
