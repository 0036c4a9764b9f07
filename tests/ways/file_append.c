// Files that are appended to, cut, reopened, and written through streams without a buffer.
// seed: "abcdefgh"
// goals: 5
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    char in[8], back[16] = "";
    if (read(0, in, 8) != 8)
        return 0;
    int fd = open("log", O_RDWR | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, "head", 4) != 4 || write(fd, in, 3) != 3)
        return 0;
    FILE *file = fopen("log", "a");
    if (!file)
        return 0;
    fputc(in[3], file);
    fputc(in[4], file);
    fclose(file);
    if (pread(fd, back, 16, 0) != 9)
        return 0;
    if (goal == 0 && back[4] == '1' && back[8] == '2')
        abort();
    if (ftruncate(fd, 5) != 0 || write(fd, in + 5, 1) != 1 || pread(fd, back, 16, 0) != 6)
        return 0;
    if (goal == 1 && back[5] == '3' && back[4] == '4')
        abort();
    file = fopen("other", "w");
    if (!file)
        return 0;
    setvbuf(file, NULL, _IONBF, 0);
    fprintf(file, "%c%c", 'x', in[6]);
    fwrite(in + 7, 1, 1, file);
    file = freopen("other", "r+", file);
    if (!file || getc(file) != 'x')
        return 0;
    int c = getc(file);
    ungetc(c, file);
    c = getc(file);
    int d = getc(file);
    if (goal == 2 && d == '6')
        abort();
    fseek(file, 0, SEEK_SET);
    putc_unlocked(in[0], file);
    fseek(file, 0, SEEK_SET);
    if (goal == 3 && getc(file) == '7')
        abort();
    file = tmpfile();
    if (!file)
        return 0;
    fwrite(in, 8, 1, file);
    rewind(file);
    if (goal == 4 && fread(back, 4, 2, file) == 2 && back[7] == '8')
        abort();
    return 0;
}
