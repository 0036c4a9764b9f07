// A string that is decoded as a whole.
// seed: "some text"
// goals: 1
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

int main(int argc, char **argv) {
    char in[16] = {0};
    wchar_t to[16];
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, sizeof in - 1) < 1)
        return 1;
    size_t n = mbstowcs(to, in, 16);
    if (n == (size_t)-1)
        return 2;
    if (goal == 0 && to[3] == L'X')
        abort();
    return 0;
}
