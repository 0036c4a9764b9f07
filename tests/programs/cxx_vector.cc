// A std::vector grows while labelled elements are pushed: reallocation moves the labels, too.
// opt: all
// run
// input: "\x05\x03\x09\x01\x07"
// stdout: "twenty-five\nnine at most\nall odd\ninserted\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: length: len > 2
// path: length: len > 3
// path: length: len > 4
// path: length: len <= 5
// path: select: in[4] + (in[3] + (in[2] + (in[1] + in[0]))) == 25
// path: in[0] >= in[1]
// path: (in[1] < in[0] ? in[0] : in[1]) < in[2]
// path: (in[2] < (in[1] < in[0] ? in[0] : in[1]) ? in[1] < in[0] ? in[0] : in[1] : in[2]) >= in[3]
// path: (in[3] < (in[2] < (in[1] < in[0] ? in[0] : in[1]) ? in[1] < in[0] ? in[0] : in[1] : in[2]) ? in[2] < (in[1] < in[0] ? in[0] : in[1]) ? in[1] < in[0] ?…
// path: select: in[2] == '\t'
// path: (in[0] & 1) != 0
// path: (in[1] & 1) != 0
// path: (in[2] & 1) != 0
// path: (in[3] & 1) != 0
// path: (in[4] & 1) != 0
// path: select: (in[0] & 1) + (in[1] & 1) + (in[2] & 1) + (in[3] & 1) + (in[4] & 1) == 5
// path: in[4] + (in[3] + (in[2] + (in[1] + in[0]))) == in[4] + (in[3] + (in[2] + (in[1] + in[0])))
// other: "\x05\x03\x09\x01\x06"
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {
    std::vector<int> v;
    for (int c; (c = std::getchar()) != EOF && v.size() < 64;)
        v.push_back(c);
    if (v.empty())
        return 1;
    int sum = std::accumulate(v.begin(), v.end(), 0);
    std::puts(sum == 25 ? "twenty-five" : "other");
    std::puts(*std::max_element(v.begin(), v.end()) == 9 ? "nine at most" : "other");
    auto odd = std::count_if(v.begin(), v.end(), [](int x) { return x & 1; });
    std::printf("%s\n", odd == static_cast<long>(v.size()) ? "all odd" : "some even");
    v.erase(v.begin());
    v.insert(v.begin() + v.size() / 2, sum);
    std::puts(v[v.size() / 2] == sum ? "inserted" : "odd size");
    return 0;
}
