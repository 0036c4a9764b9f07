// The size of a file that the program has written is the number of bytes that it wrote.
// seed: "abcdefgh"
// goals: 2
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[8];
    static char zeros[256];
    struct stat status;
    if (read(0, in, 8) != 8)
        return 0;
    int file = open("zeros", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, zeros, in[0]) != in[0] || fstat(file, &status) != 0)
        return 0;
    if (goal == 0 && status.st_size == 123)
        abort();
    if (write(file, zeros, in[1]) != in[1] || stat("zeros", &status) != 0)
        return 0;
    if (goal == 1 && status.st_size == in[0] + 200)
        abort();
    return 0;
}
