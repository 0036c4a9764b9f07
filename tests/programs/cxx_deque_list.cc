// std::deque as a queue, and a spliced std::list: their heap nodes carry the labels.
// run
// input: "ab<c>"
// stdout: "1 queued, 2 out\n"
// exit: 0
// path: length: len > 0
// path: in[0] != '<'
// path: in[0] != '>'
// path: length: len > 1
// path: in[1] != '<'
// path: in[1] != '>'
// path: length: len > 2
// path: in[2] == '<'
// path: length: len > 3
// path: in[3] != '<'
// path: in[3] != '>'
// path: length: len > 4
// path: in[4] != '<'
// path: in[4] == '>'
// path: length: len <= 5
// path: in[3] != 'b'
// path: in[0] != 'b'
// other: "ab<c<"
#include <cstdio>
#include <deque>
#include <list>

int main() {
    std::deque<char> queue;
    std::list<char> out;
    for (int c; (c = std::getchar()) != EOF;) {
        if (c == '<' && !queue.empty()) {
            out.push_back(queue.front());
            queue.pop_front();
        } else if (c == '>' && !queue.empty()) {
            out.push_front(queue.back());
            queue.pop_back();
        } else {
            queue.push_back(static_cast<char>(c));
        }
    }
    out.remove_if([](char c) { return c == 'b'; });
    std::printf("%zu queued, %zu out\n", queue.size(), out.size());
    return 0;
}
