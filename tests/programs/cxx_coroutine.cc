// A coroutine reads the input: its frame is on the heap and keeps labels across suspensions.
// flags: -O2 -std=c++20
// run
// input: "ab(c)d"
// stdout: "2 events, depth 0\n"
// exit: 0
// path: length: len > 0
// path: in[0] != '('
// path: in[0] != ')'
// path: length: len > 1
// path: in[1] != '('
// path: in[1] != ')'
// path: length: len > 2
// path: in[2] == '('
// path: length: len > 3
// path: in[3] != '('
// path: in[3] != ')'
// path: length: len > 4
// path: in[4] != '('
// path: in[4] == ')'
// path: length: len > 5
// path: in[5] != '('
// path: in[5] != ')'
// path: length: len <= 6
// same: "xy(z)w"
// other: "ab(c(d"
#include <coroutine>
#include <cstdio>
#include <exception>

struct Events {
    struct promise_type {
        int value = 0;
        Events get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) { return value = v, std::suspend_always{}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
    ~Events() { handle.destroy(); }
};

static Events brackets() {
    int depth = 0;
    for (int c; (c = std::getchar()) != EOF;) {
        if (c == '(')
            co_yield ++depth;
        else if (c == ')')
            co_yield --depth;
    }
}

int main() {
    Events e = brackets();
    int last = 0, events = 0;
    for (e.handle.resume(); !e.handle.done(); e.handle.resume(), events++)
        last = e.handle.promise().value;
    std::printf("%d events, depth %d\n", events, last);
    return 0;
}
