// The input through dup; a pipe that replaces standard input is another stream.
// run
// input: "ab"
// stdout: "a\nfrom the pipe\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: select: in[0] == 'a'
// must: in[0] == 'a'
// free: 1
#include <stdio.h>
#include <unistd.h>

int main(void) {
    int fd = dup(0), p[2];
    char a, b, c;
    if (fd < 0 || pipe(p) || read(fd, &a, 1) != 1 || read(0, &b, 1) != 1)
        return 2;
    puts(a == 'a' ? "a" : "not a");
    if (write(p[1], "k", 1) != 1)
        return 3;
    dup2(p[0], 0);
    if (read(0, &c, 1) != 1)
        return 4;
    puts(c == 'k' ? "from the pipe" : "impossible");
    return 0;
}
