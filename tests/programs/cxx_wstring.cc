// std::wstring: widened characters keep their labels through append, find, substr and compare.
// run
// input: "say=hi"
// stdout: "hi at 3\n"
// exit: 2
// path: length: len > 0
// path: length: len > 1
// path: length: len > 2
// path: length: len > 3
// path: length: len > 4
// path: length: len > 5
// path: length: len <= 6
// path: model: in[0] != '='
// path: model: in[1] != '='
// path: model: in[2] != '='
// path: model: in[3] == '='
// path: model: in[4] == 'h'
// path: model: in[5] == 'i'
// must: in[4] == 'h'
// other: "say=ho"
// run
// input: "nothing"
// stdout: "no =\n"
// exit: 7
// path: length: len > 0
// path: length: len > 1
// path: length: len > 2
// path: length: len > 3
// path: length: len > 4
// path: length: len > 5
// path: length: len > 6
// path: length: len <= 7
// path: model: in[0] != '='
// path: model: in[1] != '='
// path: model: in[2] != '='
// path: model: in[3] != '='
// path: model: in[4] != '='
// path: model: in[5] != '='
// path: model: in[6] != '='
#include <cstdio>
#include <string>

int main() {
    std::wstring text;
    for (int c; (c = std::getchar()) != EOF;)
        text += static_cast<wchar_t>(c);
    auto eq = text.find(L'=');
    if (eq == std::wstring::npos)
        return std::puts("no ="), static_cast<int>(text.size());
    std::wstring value = text.substr(eq + 1);
    std::printf("%s at %d\n", value == L"hi" ? "hi" : "something", static_cast<int>(eq));
    return static_cast<int>(value.size());
}
