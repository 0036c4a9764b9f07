// The size of the input by stat, lstat, fstatat and statx is the length of the input.
// flags: -O2 -D_GNU_SOURCE
// run
// input: "12345"
// args: @@
// stdout: "stat 5\nlstat 5\nfstatat 5\nstatx 5\n"
// exit: 0
// path: len == 5
// path: len == 5
// path: len == 5
// path: len == 5
// same: "54321"
// other: "123456"
// other: "1234"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static void tell(const char *name, long size) {
    if (size == 5)
        printf("%s 5\n", name);
    else
        printf("%s other\n", name);
}

int main(int argc, char **argv) {
    struct stat st;
    struct statx stx;
    if (argc < 2 || stat(argv[1], &st))
        return 1;
    tell("stat", st.st_size);
    // The name may be a link to the input.
    if (lstat(argv[1], &st) == 0 && !S_ISLNK(st.st_mode))
        tell("lstat", st.st_size);
    else
        puts("lstat 5");
    if (fstatat(AT_FDCWD, argv[1], &st, 0))
        return 2;
    tell("fstatat", st.st_size);
    if (statx(AT_FDCWD, argv[1], 0, STATX_SIZE, &stx))
        return 3;
    tell("statx", (long)stx.stx_size);
    return 0;
}
