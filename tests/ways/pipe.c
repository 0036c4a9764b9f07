// Input goes through a pipe, a named pipe, and a pipe in the place of standard input.
// seed: "abcdefgh"
// goals: 4
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0, ends[2];
    char in[8], back[8];
    if (read(0, in, 8) != 8 || pipe(ends) != 0)
        return 0;
    if (write(ends[1], in, 3) != 3 || write(ends[1], in + 6, 2) != 2)
        return 0;
    if (read(ends[0], back, 1) != 1 || read(ends[0], back + 1, 4) != 4)
        return 0;
    if (goal == 0 && memcmp(back, "pleat", 5) == 0)
        abort();
    FILE *to = fdopen(ends[1], "w");
    if (!to)
        return 0;
    fprintf(to, "%.4s\n", in);
    fclose(to);
    dup2(ends[0], 0);
    char line[8];
    if (!fgets(line, sizeof line, stdin))
        return 0;
    if (goal == 1 && strcmp(line, "four\n") == 0)
        abort();
    if (mkfifo("fifo", 0600) != 0)
        return 0;
    int fifo = open("fifo", O_RDWR);
    if (fifo < 0 || write(fifo, in + 4, 4) != 4 || read(fifo, back, 4) != 4)
        return 0;
    if (goal == 2 && back[0] == 'f' && back[3] == 'o')
        abort();
    if (goal == 3 && write(fifo, in, 8) == 8 && read(fifo, back, 8) == 8 && back[0] == back[7]
        && back[1] == '9')
        abort();
    return 0;
}
