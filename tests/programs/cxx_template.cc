// Templates over integer types: one source line becomes several functions, each with its own sites.
// opt: all
// run
// input: "\xff\x01\x80\xff"
// stdout: "high\nlow\nlow\nhigh\none cubed\n"
// exit: 0
// path: length: len > 3
// path: in[0] != '\0'
// path: select: (int8_t)in[0] < 0
// path: (int8_t)in[0] < 0
// path: (int16_t)u16le(in+1) < 0
// path: u32le(in) != 0
// path: select: (int)u32le(in) < 0
// path: select: (int8_t)(in[1] * in[1] * in[1]) == 1
// other: "\x7f\x01\x80\xff"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>

template <typename T> static T take(const unsigned char *p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

template <typename T> static const char *sign(T v) {
    if (v < T{} || v == std::numeric_limits<T>::min())
        return "low";
    return v > std::numeric_limits<T>::max() / 2 ? "high" : "middle";
}

template <int N, typename T> static T power(T x) {
    if constexpr (N == 0)
        return 1;
    else
        return static_cast<T>(x * power<N - 1>(x));
}

int main() {
    unsigned char in[4];
    if (std::fread(in, 1, 4, stdin) != 4)
        return 2;
    std::puts(sign(take<std::uint8_t>(in)));
    std::puts(sign(take<std::int8_t>(in)));
    std::puts(sign(take<std::int16_t>(in + 1)));
    std::puts(sign(take<std::uint32_t>(in)));
    std::puts(power<3>(take<std::uint8_t>(in + 1)) == 1 ? "one cubed" : "other");
    return 0;
}
