// The file @@: open, read in pieces, lseek, and read again.
// run
// input: "HEADbody"
// args: @@
// stdout: "8 y\nsame again\n"
// exit: 0
// path: length: len > 3
// path: in[0] == 'H'
// path: pin: len == 8
// path: length: len > 6
// path: length: len <= 10
// path: len == 8
// path: select: in[7] == 'y'
// path: select: in[0] == in[0]
// must: in[0] == 'H'
// other: "HEADbodz"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    char a[4], b[4];
    if (fd < 0 || read(fd, a, 4) != 4)
        return 2;
    if (a[0] != 'H')
        return puts("no header"), 1;
    off_t size = lseek(fd, 0, SEEK_END);
    lseek(fd, -1, SEEK_CUR);
    if (read(fd, b, 4) != 1)
        return 3;
    printf("%ld %s\n", (long)size, b[0] == 'y' ? "y" : "not y");
    lseek(fd, 0, SEEK_SET);
    if (read(fd, b, 1) == 1)
        puts(b[0] == a[0] ? "same again" : "impossible");
    close(fd);
    return 0;
}
