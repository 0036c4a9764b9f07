// A fork server without the runtime. It speaks the protocol of pleach_abi::message. The
// input of a run is the name of what the run does. The test gives the offsets by -D.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct message { uint32_t kind, a; uint64_t b, c, d; };
struct event { uint32_t site, label; uint8_t kind, dir; uint16_t stream; uint32_t aux; };
struct node { uint8_t op, width; uint16_t flags; uint32_t a, b, c; uint64_t imm, val; };

static int control;
static char *memory;

static void say(struct message m) {
    if (write(control, &m, sizeof m) != sizeof m) exit(1);
}

static uint32_t *word(long at) { return (uint32_t *)(memory + at); }

static uint64_t offset(long at) { return *(uint64_t *)(memory + at); }

// Writes a trace with two decisions: in[0] == 't', and len > 2.
static void trace(const char *input) {
    struct node *nodes = (struct node *)(memory + offset(NODES_OFF));
    struct event *events = (struct event *)(memory + offset(EVENTS_OFF));
    uint32_t len = *word(INPUT_LEN);
    nodes[1] = (struct node){.op = 1, .width = 8, .val = (uint8_t)input[0]};
    nodes[len + 1] = (struct node){.op = 30, .width = 1, .a = 1, .imm = 't', .val = input[0] == 't'};
    events[0] = (struct event){.label = len + 1, .kind = 1, .dir = input[0] == 't'};
    events[1] = (struct event){.kind = 9, .dir = 1, .aux = 2};
    *word(NODES) = len + 2;
    *word(EVENTS) = 2;
}

static void run(int argc, char **argv) {
    char input[256] = {0};
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
    if (fd == 0) lseek(0, 0, SEEK_SET);
    read(fd, input, sizeof input - 1);
    memset(memory + NODES, 0, MODULES_LEN - NODES);
    trace(input);
    if (!strncmp(input, "exit ", 5)) exit(atoi(input + 5));
    if (!strcmp(input, "echo")) { puts("out"); fputs("err\n", stderr); exit(0); }
    if (!strcmp(input, "segv")) { signal(SIGSEGV, SIG_DFL); raise(SIGSEGV); }
    if (!strcmp(input, "loop")) { signal(SIGTERM, SIG_IGN); for (;;) pause(); }
    if (!strcmp(input, "daemon")) {
        for (int i = 0; i < 3; i++)
            if (fork() == 0) {
                setsid();
                signal(SIGTERM, SIG_IGN);
                if (fork() == 0) for (;;) pause();
                for (;;) pause();
            }
        exit(0);
    }
    if (!strcmp(input, "parent")) { kill(getppid(), SIGKILL); exit(0); }
    if (!strcmp(input, "stopped")) { kill(getppid(), SIGSTOP); for (;;) pause(); }
    if (!strcmp(input, "close")) { for (int i = 0; i < 1024; i++) close(i); exit(0); }
    if (!strcmp(input, "memory")) {
        for (;;) { char *p = malloc(1 << 20); memset(p, 1, 1 << 20); }
    }
    if (!strcmp(input, "output")) for (;;) puts("all work and no play");
    if (!strcmp(input, "unlink")) { unlink(argv[1]); exit(0); }
    if (!strcmp(input, "counts")) { *word(NODES) = 0xfffffff0; exit(0); }
    if (!strcmp(input, "label")) {
        ((struct event *)(memory + offset(EVENTS_OFF)))->label = 1000000;
        exit(0);
    }
    if (!strcmp(input, "kind")) {
        ((struct event *)(memory + offset(EVENTS_OFF)))->kind = 99;
        exit(0);
    }
    if (!strcmp(input, "wrong")) {
        ((struct event *)(memory + offset(EVENTS_OFF)))->dir ^= 1;
        exit(0);
    }
    if (!strcmp(input, "resize")) exit(ftruncate(atoi(strchr(getenv("KEEP"), ':') + 1), 0) ? 7 : 0);
    if (!strcmp(input, "header")) { memset(memory, 0xff, 65536); exit(0); }
    exit(0);
}

int main(int argc, char **argv) {
    const char *ctl = getenv("PLEACH_CTL");
    if (!ctl) return 99;
    if (getenv("FAIL")) { fputs("I would rather not\n", stderr); return 4; }
    if (getenv("SILENT")) for (;;) pause();
    ctl = strchr(ctl, ':') + 1; /* the first number, <bind>, has no meaning here */
    setenv("KEEP", ctl, 1);
    control = atoi(ctl);
    int fd = atoi(strchr(ctl, ':') + 1);
    struct stat st;
    fstat(fd, &st);
    memory = mmap(0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    say((struct message){1, getenv("OLD") ? 0 : VERSION, getpid(), 2, 0});
    struct message m;
    while (read(control, &m, sizeof m) == sizeof m && m.kind == 16) {
        pid_t pid = fork();
        if (pid == 0) {
            setpgid(0, 0);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(control);
            run(argc, argv);
        }
        setpgid(pid, pid);
        int status;
        struct rusage usage;
        wait4(pid, &status, 0, &usage);
        uint64_t cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ull +
                       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
        say((struct message){3, status, cpu, usage.ru_maxrss, pid});
    }
}
