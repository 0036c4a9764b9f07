// Numbers from std::cin: the library's parser, its overflow check included.
// run
// input: "42 -7 ff\n"
// stdout: "near\nnegative\n255\n"
// exit: 0
// must: in[0] == '4'
// must: in[3] == '-'
// same: "43 -7 ff\n"
// same: "42 -9 ff\n"
// other: "52 -7 ff\n"
// other: "42 77 ff\n"
// other: "42 -7 fg\n"
// run
// input: "99999999999"
// stdout: "bad\n"
// exit: 1
// same: "99999999998"
// other: "1"
#include <iostream>

int main() {
    int a, b;
    unsigned c;
    if (!(std::cin >> a >> b >> std::hex >> c)) {
        std::cout << "bad\n";
        return 1;
    }
    std::cout << (a >= 40 && a < 50 ? "near\n" : "far\n");
    std::cout << (b < 0 ? "negative\n" : "positive\n");
    if (c == 255)
        std::cout << "255\n";
    return 0;
}
