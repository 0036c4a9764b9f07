/* Does harm when its input begins with `!`; the next letter says which. Every other input is
 * harmless. Nothing here touches a process or a file that is not its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void wait_forever(void) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (;;) pause();
}

static void daemonise(void) {
    for (int i = 0; i < 4; i++) {
        if (fork() != 0) continue;
        setsid();
        if (fork() != 0) _exit(0);
        if (chdir("/") != 0) _exit(1);
        for (int fd = 0; fd < 256; fd++) close(fd);
        wait_forever();
    }
}

static void write_gigabytes(void) {
    static char block[1 << 20];
    int fd = open("big", O_WRONLY | O_CREAT | O_APPEND, 0600);
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 4096; i++)
        if (fd < 0 || write(fd, block, sizeof block) <= 0) break;
}

static void leak(void) {
    for (;;) {
        char *volatile memory = malloc(1 << 20);
        if (!memory) wait_forever();
        memset(memory, 1, 1 << 20);
    }
}

static void litter(void) {
    char name[32];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "dir-%d", i);
        mkdir(name, 0);
        snprintf(name, sizeof name, "file-%d", i);
        close(open(name, O_WRONLY | O_CREAT, 0));
    }
}

static void remove_home(void) {
    char here[4096];
    if (getcwd(here, sizeof here)) rmdir(here);
}

static int do_harm(int what) {
    static char *const nothing[] = {NULL};
    static char *const sleeper[] = {"sleep", "1000", NULL};
    switch (what) {
    case 'c':
        for (int fd = 0; fd < 256; fd++) close(fd);
        break;
    case 'd': daemonise(); break;
    case 'e': execve("/bin/sleep", sleeper, nothing); break;
    case 'f':
        for (int i = 0; i < 8; i++)
            if (fork() == 0) wait_forever();
        break;
    case 'g': kill(0, SIGKILL); break;
    case 'h': wait_forever(); break;
    case 'l': leak(); break;
    case 'm': memset((void *)0x90000000000, 0xff, 65536); break;
    case 'o':
        for (;;) puts("more and more output");
    case 'p': kill(getppid(), SIGKILL); break;
    case 'r': remove_home(); break;
    case 's': raise(SIGSTOP); break;
    case 't': litter(); break;
    case 'w': write_gigabytes(); break;
    default: return 1;
    }
    return 2;
}

int main(void) {
    static unsigned char in[16];
    size_t n = fread(in, 1, sizeof in, stdin), letters = 0;
    if (n >= 2 && in[0] == '!') return do_harm(in[1]);
    for (size_t i = 0; i < n; i++)
        if (in[i] >= 'a' && in[i] <= 'z') letters++;
    return letters > 3 ? 3 : 0;
}
