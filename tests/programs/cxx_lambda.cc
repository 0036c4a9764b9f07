// Lambdas with captures by value and reference, and std::function that erases them.
// opt: all
// run
// input: "+3*2"
// stdout: "2 more\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: in[0] == '+'
// path: length: len > 2
// path: length: len > 3
// path: in[2] != '+'
// path: in[2] == '*'
// path: length: len <= 4
// path: (in[3] - '0') * (in[1] - '/') > 5
// other: "*2+3"
// same: "+5*4"
#include <cstdio>
#include <functional>
#include <vector>

int main() {
    std::vector<std::function<int(int)>> steps;
    int op, arg, calls = 0;
    while ((op = std::getchar()) != EOF && (arg = std::getchar()) != EOF && steps.size() < 8) {
        int n = arg - '0';
        if (op == '+')
            steps.push_back([n, &calls](int x) { calls++; return x + n; });
        else if (op == '*')
            steps.push_back([n, &calls](int x) { calls++; return x * n; });
    }
    int x = 1;
    for (auto &f : steps)
        x = f(x);
    std::printf("%d %s\n", calls, x > 5 ? "more" : "less");
    return 0;
}
