// std::unordered_map: the hash is computed in the library, concretely; equality is still decided.
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
// losses: unmodelled pinned healed
// diverges: the hash function is in the library, without instrumentation
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
