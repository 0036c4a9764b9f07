// The size of the input by fstat and stat is a condition on its length.
// run
// input: "1234567"
// args: @@
// stdout: "short\nodd\n"
// exit: 0
// path: select: len < 8
// path: select: (len & 1) != 0
// same: "abcdefg"
// other: "12345678"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct stat a, b;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &a) || stat(argv[1], &b))
        return 2;
    puts(a.st_size < 8 ? "short" : "long");
    puts(b.st_size % 2 ? "odd" : "even");
    close(fd);
    return 0;
}
