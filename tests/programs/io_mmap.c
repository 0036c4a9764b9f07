// The input file is mapped into memory and read through pointers.
// run
// input: "line one\nline two\n"
// args: @@
// stdout: "2 lines, starts with l\n"
// exit: 0
// path: len != 0
// path: pin: len == 18
// path: length: len > 17
// path: len > 0
// path: in[0] != '\n'
// path: len > 1
// path: in[1] != '\n'
// path: len > 2
// path: in[2] != '\n'
// path: len > 3
// path: in[3] != '\n'
// path: len > 4
// path: in[4] != '\n'
// path: len > 5
// path: in[5] != '\n'
// path: len > 6
// path: in[6] != '\n'
// path: len > 7
// path: in[7] != '\n'
// path: len > 8
// path: in[8] == '\n'
// path: len > 9
// path: in[9] != '\n'
// path: len > 10
// path: …
// same: "lane one\nlina two\n"
// other: "line one line two\n"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct stat st;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1, lines = 0;
    if (fd < 0 || fstat(fd, &st) || st.st_size == 0)
        return 2;
    const char *p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return 3;
    for (off_t i = 0; i < st.st_size; i++)
        if (p[i] == '\n')
            lines++;
    printf("%d lines%s\n", lines, p[0] == 'l' ? ", starts with l" : "");
    munmap((void *)p, st.st_size);
    close(fd);
    return 0;
}
