// std::cin and stdio share one buffer: if one pushes a character back, the
// other reads it.
// run
// input: "ab12cd\n"
// stdout: "a b 12 c d\n"
// exit: 0
// path: length: len > 0
// path: in[0] == (int8_t)in[0]
// path: in[0] == 'a'
// path: length: len > 1
// path: model: (int)((uint32_t)in[1] << 24) >> 24 != -1
// path: (uint8_t)((int)((uint32_t)in[1] << 24) >> 24) == (int)((uint32_t)in[1] << 24) >> 24
// path: length: len > 2
// path: model: !(in[2] == ' ' || (uint8_t)(in[2] - 9) <= 4)
// path: model: in[2] != '-'
// path: model: in[2] != '+'
// path: model: (uint8_t)(in[2] - '0') <= 9
// path: length: len > 3
// path: model: (uint8_t)(in[3] - '0') <= 9
// path: length: len > 4
// path: model: (uint8_t)(in[4] - '0') > 9
// path: (uint8_t)(in[2] - '0') * 10 + (uint8_t)(in[3] - '0') >= 10
// path: (table_…[in[4] + 128] & 8192) == 0
// path: length: len > 5
// path: (table_…[in[5] + 128] & 8192) == 0
// path: in[5] == 'd'
// path: select: (uint8_t)(in[2] - '0') * 10 + (uint8_t)(in[3] - '0') == 12
// must: in[0] == 'a'
// must: in[5] == 'd'
// other: "ab13cd\n"
// same: "aB12Cd\n"
// other: "xb12cd\n"
// other: "ab12cx\n"
#include <cstdio>
#include <iostream>

int main() {
    char first, second;
    int number;
    std::cin.get(first);
    std::cin.unget();
    if (std::getchar() != first || first != 'a')
        return std::puts("first"), 1;
    second = static_cast<char>(std::getchar());
    std::ungetc(second, stdin);
    if (std::cin.peek() != second)
        return std::puts("second"), 1;
    std::cin.ignore();
    if (std::scanf("%d", &number) != 1 || number < 10)
        return std::puts("number"), 1;
    char third, fourth;
    std::cin >> third >> fourth;
    if (fourth != 'd')
        return std::puts("fourth"), 1;
    std::cout << first << " " << second << " " << (number == 12 ? "12" : "another") << " " << third
              << " " << fourth << "\n";
    return 0;
}
