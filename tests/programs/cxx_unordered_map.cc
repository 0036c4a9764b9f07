// std::unordered_map: the hash of a key picks a bucket, which is pinned; equality is decided.
// run
// input: "kk"
// stdout: "1\n"
// exit: 0
// path: length: len > 0
// path: pin: ((((in[0] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[0] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935bd1e995 >…
// path: check: ((((in[0] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[0] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935bd1e995…
// path: table_…[((((in[0] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[0] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935bd1e99…
// path: pin: ((((in[0] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[0] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935bd1e995 >…
// path: length: len > 1
// path: check: ((((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935bd1e995…
// path: table_…[((((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935bd1e99…
// path: pin: table_…[((((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935b…
// path: ((((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935bd1e995 >> 47 …
// path: model: in[1] == in[0]
// path: table_…[((((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995 >> 47 ^ ((in[1] | 0) ^ 0xc6a4a7939cde8092) * 0xc6a4a7935bd1e995) * 0xc6a4a7935bd1e99…
// path: length: len <= 2
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
