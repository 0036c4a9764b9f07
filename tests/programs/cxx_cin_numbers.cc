// Numbers from std::cin: the library's parser with its overflow check is instrumented.
// run
// input: "42 -7 ff\n"
// stdout: "near\nnegative\n255\n"
// exit: 0
// path: length: len > 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: in[0] != '-'
// path: in[0] != '+'
// path: in[0] != '.'
// path: in[0] != '0'
// path: (int8_t)in[0] > '/'
// path: in[0] < ':'
// path: in[0] != '/'
// path: length: len > 1
// path: (int8_t)in[1] > '/'
// path: in[1] < ':'
// path: in[1] != '/'
// path: (uint64_t)(in[0] - '0') <= 0xccccccccccccccc
// path: length: len > 2
// path: (int8_t)in[2] <= '/'
// path: !(0 || (uint64_t)0x7fffffffffffffff - (in[0] - '0') < 0 || (uint64_t)0x7fffffffffffffff - (in[1] - '0') < (uint64_t)((in[0] - '0') * 10))
// path: (in[0] - '0') * 10 + (in[1] - '0') >= INT_MIN
// path: (in[0] - '0') * 10 + (in[1] - '0') <= 0x7fffffff
// path: (table_…[in[2] + 128] & 8192) != 0
// path: length: len > 3
// path: (table_…[in[3] + 128] & 8192) == 0
// path: in[3] == '-'
// path: in[3] != '.'
// path: …
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
// path: length: len > 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: in[0] != '-'
// path: in[0] != '+'
// path: in[0] != '.'
// path: in[0] != '0'
// path: (int8_t)in[0] > '/'
// path: in[0] < ':'
// path: in[0] != '/'
// path: length: len > 1
// path: (int8_t)in[1] > '/'
// path: in[1] < ':'
// path: in[1] != '/'
// path: (uint64_t)(in[0] - '0') <= 0xccccccccccccccc
// path: length: len > 2
// path: (int8_t)in[2] > '/'
// path: in[2] < ':'
// path: in[2] != '/'
// path: (uint64_t)((in[0] - '0') * 10 + (in[1] - '0')) <= 0xccccccccccccccc
// path: length: len > 3
// path: (int8_t)in[3] > '/'
// path: in[3] < ':'
// path: in[3] != '/'
// path: (uint64_t)(((in[0] - '0') * 10 + (in[1] - '0')) * 10 + (in[2] - '0')) <= 0xccccccccccccccc
// path: …
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
