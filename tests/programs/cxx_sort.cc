// std::sort with a lambda over labelled structs: every comparison is a decision.
// opt: all
// run
// input: "\x03\x01\x02\x03\x01\x09"
// stdout: "nine first\ntwo is there\n"
// exit: 0
// path: length: len > 5
// path: in[2] < in[0]
// path: in[4] < in[2]
// path: select: in[5] == '\t'
// path: in[2] >= 2
// path: in[4] < 2
// path: select: in[2] < 3
// same: "\x04\x01\x02\x03\x01\x09"
// other: "\x02\x01\x03\x03\x01\x09"
#include <algorithm>
#include <array>
#include <cstdio>

struct Item { unsigned char key, value; };

int main() {
    std::array<Item, 3> items;
    if (std::fread(items.data(), sizeof(Item), 3, stdin) != 3)
        return 2;
    std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) { return a.key < b.key; });
    std::puts(items[0].value == 9 ? "nine first" : "other first");
    bool found = std::binary_search(items.begin(), items.end(), Item{2, 0},
                                    [](const Item &a, const Item &b) { return a.key < b.key; });
    std::puts(found ? "two is there" : "no two");
    return 0;
}
