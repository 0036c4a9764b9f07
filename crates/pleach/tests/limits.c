// Does what its argument names when its input begins with `bad`, in either half. Any other
// input is harmless.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char input[8];
static char *volatile memory;

static void use_memory(size_t bytes) {
    memory = malloc(bytes);
    memset(memory, 1, bytes);
}

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static void forever(void) {
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
}

static void bomb(int leave) {
    // At most 4096 processes, if the driver's limit of 256 does not work.
    for (int i = 0; i < 12; i++)
        if (fork() == 0 && leave) setsid();
    forever();
}

static void fill(const char *name) {
    static char block[1 << 20];
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    // The limit is one gigabyte. Most of it is a hole, which costs no time.
    if (fd < 0 || ftruncate(fd, 900l << 20)) exit(7);
    memset(block, 'x', sizeof block);
    while (write(fd, block, sizeof block) > 0) {}
    exit(8);
}

static int worst(const char *what) {
    if (is(what, "bomb")) bomb(0);
    if (is(what, "bomb-sessions")) bomb(1);
    if (is(what, "daemons"))
        for (int i = 0; i < 5; i++)
            if (fork() == 0) {
                setsid();
                if (fork() == 0) forever();
                _exit(0);
            }
    if (is(what, "sleep")) forever();
    if (is(what, "stop")) raise(SIGSTOP);
    if (is(what, "spin")) {
        for (int i = 0; i < 15; i++)
            if (fork() == 0) break;
        for (volatile int i = 0;; i++) {}
    }
    if (is(what, "parent")) kill(getppid(), SIGKILL);
    if (is(what, "memory"))
        for (int i = 0; i < 64; i++) use_memory(16 << 20);
    if (is(what, "family"))
        for (int i = 0; i < 8; i++)
            if (fork() == 0) {
                use_memory(48 << 20);
                forever();
            }
    if (is(what, "family")) forever();
    if (is(what, "file")) fill("big");
    if (is(what, "files")) {
        char name[32];
        for (int i = 0; i < 20000; i++) {
            snprintf(name, sizeof name, "file-%d", i);
            close(open(name, O_WRONLY | O_CREAT, 0600));
        }
        forever();
    }
    if (is(what, "output"))
        for (;;) puts("more and more output");
    if (is(what, "terminal")) {
        int fd = open("/dev/tty", O_RDWR);
        if (fd >= 0 && write(fd, "HERE I AM\n", 10) == 10) abort();
    }
    if (is(what, "litter")) {
        if (access("kept", F_OK) == 0) abort();
        close(open("kept", O_WRONLY | O_CREAT, 0600));
        mkdir("dir", 0700);
        close(open("dir/file", O_WRONLY | O_CREAT, 0600));
        chmod("dir", 0);
    }
    if (is(what, "homeless")) {
        char here[4096];
        if (!getcwd(here, sizeof here)) abort();
        rmdir(here);
    }
    if (is(what, "memory-map")) memset((void *)0x90000000000, 0xff, 65536);
    return 3;
}

int main(int count, char **args) {
    if (count < 2 || fread(input, 1, 4, stdin) != 4) return 1;
    if (input[0] == 'b' && input[1] == 'a') {
        if (input[2] == 'd') return worst(args[1]);
        return 2;
    }
    return input[3] == 'x' ? 4 : 5;
}
