// Does something hostile; the first word of its input says what.
#define _GNU_SOURCE
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHM 0x90000000000ul
#define SHADOW (1ul << 44)
#define DIRTY 0x10000000ul

static char word[64];

static int is(const char *name) { return strcmp(word, name) == 0; }

static void forever(void) {
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
}

static int map(uintptr_t at, int access) {
    void *page = (void *)(at & ~4095ul);
    return mmap(page, 4096, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

__attribute__((noinline)) static int deep(int n) {
    volatile char frame[256];
    frame[n & 255] = (char)n;
    return deep(n + 1) + frame[n & 255];
}

__attribute__((noinline)) static int down(int n) {
    volatile char frame[1024];
    frame[n & 1023] = word[n % 8];
    return n == 0 ? frame[0] : down(n - 1) + frame[n & 1023];
}

int main(void) {
    if (!fgets(word, sizeof word, stdin)) return 1;
    if (word[0] == '!') return 2; // A branch on input, before anything else.
    if (is("header")) memset((void *)SHM, 0xff, 65536);
    if (is("arena"))
        for (uint64_t *p = (uint64_t *)(SHM + 65536), i = 0; i < 80000000 / 8; i++) p[i] = ~i;
    if (is("fork"))
        for (int i = 0; i < 4; i++)
            if (fork() == 0) {
                setsid();
                if (fork() == 0) forever();
                forever();
            }
    if (is("wait")) {
        for (int i = 0; i < 4; i++)
            if (fork() == 0) return word[0] == 'w' ? i : 9;
        int sum = 0, status;
        while (wait(&status) > 0) sum += WEXITSTATUS(status);
        return sum;
    }
    if (is("close"))
        for (int fd = 0; fd < 2048; fd++) close(fd);
    // Maps the memory of the labels of `word` anew: not accessible, or all zero.
    if (is("shadow") && !map((((uintptr_t)word & ((1ul << 44) - 1)) << 2) + SHADOW, PROT_NONE)) return 3;
    if (is("dirty") && !map(((uintptr_t)word >> 8) + DIRTY, PROT_READ | PROT_WRITE)) return 3;
    if (is("low")) {
        char *p = mmap((void *)0x20000, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (p == MAP_FAILED) return 3;
        memcpy(p, word, sizeof word);
        return p[0] == 'l' ? 21 : 22;
    }
    if (is("gigabyte")) {
        char *p = malloc(1ul << 30);
        for (size_t i = 0; i < 1ul << 30; i += 4096) p[i] = word[i / 4096 % 8];
        return p[4096] == 'i' ? 23 : 24;
    }
    if (is("stack")) {
        volatile char *p = alloca(7 << 20);
        for (size_t i = 0; i < 7 << 20; i += 512) p[i] = word[0];
        return p[512] == 's' ? 25 : 26;
    }
    if (is("recursion")) return down(5000) == 0 ? 27 : 28;
    if (is("overflow")) return deep(0);
    if (is("vfork")) {
        pid_t pid = vfork();
        if (pid == 0) {
            execl("/bin/sh", "sh", "-c", "exit 29", (char *)0);
            _exit(1);
        }
        int status;
        waitpid(pid, &status, 0);
        return WEXITSTATUS(status);
    }
    if (is("exec")) execl("/bin/sh", "sh", "-c", "exit 30", (char *)0);
    if (is("hang")) forever();
    if (is("session")) { setsid(); forever(); }
    if (is("group")) { setpgid(0, getppid()); forever(); }
    if (is("parent")) kill(getppid(), SIGKILL);
    if (is("stop")) { kill(getppid(), SIGSTOP); forever(); }
    if (is("self")) raise(SIGSTOP);
    if (is("abort")) abort();
    return word[1] == 'k' ? 31 : 32;
}
