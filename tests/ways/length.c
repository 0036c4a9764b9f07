// The length of the input comes back as the size of what was read from a file and a pipe.
// seed: "abc"
// goals: 3
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0, ends[2];
    char in[32], back[64];
    ssize_t n = read(0, in, sizeof in);
    int fd = open("note", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (n <= 0 || fd < 0 || write(fd, in, n) != n || lseek(fd, 0, SEEK_SET) != 0)
        return 0;
    ssize_t m = read(fd, back, sizeof back);
    if (goal == 0 && m == 7 && back[6] == 'x')
        abort();
    if (goal == 1 && m == 20)
        abort();
    if (pipe(ends) != 0 || write(ends[1], in, n) != n)
        return 0;
    if (goal == 2 && read(ends[0], back, sizeof back) == 11)
        abort();
    return 0;
}
