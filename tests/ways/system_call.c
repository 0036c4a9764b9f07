// Input that is read by the numbers of system calls, and values in the environment.
// seed: "abcdefgh"
// goals: 3
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    char in[8], text[5] = "";
    if (syscall(SYS_read, 0, in, 4) != 4 || syscall(SYS_pread64, 0, in + 4, 4, 4L) != 4)
        return 0;
    if (goal == 0 && in[0] == '1' && in[1] == '2')
        abort();
    if (goal == 1 && in[6] == '3')
        abort();
    memcpy(text, in, 4);
    setenv("ASKED", "nothing", 1);
    if (setenv("ASKED", text, 0) != 0 || setenv("GIVEN", text, 1) != 0)
        return 0;
    if (goal == 2 && strcmp(getenv("GIVEN"), "open") == 0 && strcmp(getenv("ASKED"), "open") != 0)
        abort();
    return 0;
}
