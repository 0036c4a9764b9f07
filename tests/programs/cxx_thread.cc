// std::thread: two workers each process half of the input; each thread has its own labels.
// flags: -O2 -pthread
// run
// input: "aaxbxx"
// stdout: "1 2\n"
// exit: 0
// same: "abxbxx"
// diverges: threads
#include <cstdio>
#include <thread>

static char in[6];

int main() {
    if (std::fread(in, 1, 6, stdin) != 6)
        return 2;
    int count[2] = {0, 0};
    auto work = [&](int half) {
        for (int i = 0; i < 3; i++)
            if (in[half * 3 + i] == 'x')
                count[half]++;
    };
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
    std::printf("%d %d\n", count[0], count[1]);
    return 0;
}
