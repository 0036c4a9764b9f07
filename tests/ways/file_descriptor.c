// Input goes through a file by write, pwrite and writev, and back by read, pread, readv and mmap.
// seed: "abcdefgh"
// goals: 6
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    char in[8], back[16] = "", more[4] = "";
    if (read(0, in, 8) != 8)
        return 0;
    int fd = open("note", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, in, 4) != 4 || pwrite(fd, in + 2, 6, 8) != 6)
        return 0;
    struct iovec parts[2] = { { in, 1 }, { in + 7, 1 } };
    if (writev(fd, parts, 2) != 2)
        return 0;
    lseek(fd, 0, SEEK_SET);
    if (read(fd, back, 4) != 4)
        return 0;
    if (goal == 0 && memcmp(back, "\x7f" "ELF", 4) == 0)
        abort();
    if (pread(fd, back, 6, 8) != 6)
        return 0;
    if (goal == 1 && back[5] == 'x' && back[0] == 'y')
        abort();
    struct iovec to[2] = { { back, 5 }, { more, 4 } };
    if (preadv(fd, to, 2, 0) != 9)
        return 0;
    if (goal == 2 && back[4] == 'U' && more[0] == 'V')
        abort();
    if (goal == 3 && more[3] == 'W')
        abort();
    char *map = mmap(NULL, 14, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return 0;
    if (goal == 4 && map[2] == 'm' && map[13] == 'p')
        abort();
    int other = dup(fd);
    if (rename("note", "moved") != 0 || lseek(other, 1, SEEK_SET) != 1 || read(fd, back, 1) != 1)
        return 0;
    if (goal == 5 && back[0] == 'd')
        abort();
    return 0;
}
