// mmap of the input: the rest of its last page is zeros, and munmap removes the labels.
// run
// input: "map\nped"
// args: @@
// stdout: "p\nzeros\nclean\n"
// exit: 0
// path: length: len <= 4095
// path: pin: len == 7
// path: select: in[4] == 'p'
// must: in[4] == 'p'
// other: "map\nxed"
// other: "map\npedz"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return 1;
    puts(p[4] == 'p' ? "p" : "not p");
    puts(p[7] == 0 ? "zeros" : "more");
    munmap(p, 4096);
    char *q = mmap(p, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (q == MAP_FAILED)
        return 2;
    puts(q[4] == 0 ? "clean" : "impossible");
    return 0;
}
