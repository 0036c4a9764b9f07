// Input goes through memory that is mapped twice, and through files whose memory is mapped.
// seed: "abcdefgh"
// goals: 7
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

static char *map(int fd, int prot, int flags) {
    char *at = mmap(NULL, 8192, prot, flags, fd, 0);
    if (at == MAP_FAILED)
        exit(0);
    return at;
}

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    char in[8], back[8];
    if (read(0, in, 8) != 8)
        return 0;
    int fd = open("note", O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 8192) != 0)
        return 0;
    char *one = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED), *two = map(fd, PROT_READ, MAP_SHARED);
    memcpy(one + 4096, in, 4);
    if (goal == 0 && memcmp(two + 4096, "ways", 4) == 0)
        abort();
    // Stored to memory, read from the file.
    if (pread(fd, back, 4, 4096) != 4)
        return 0;
    if (goal == 1 && memcmp(back, "file", 4) == 0)
        abort();
    // Written to the file, read from memory.
    if (pwrite(fd, in + 4, 4, 100) != 4)
        return 0;
    if (goal == 2 && two[100] == 'm' && one[103] == 'n')
        abort();
    // A part of the file, mapped when it already has contents.
    char *part = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
    if (part == MAP_FAILED)
        return 0;
    if (goal == 3 && part[2] == 'p')
        abort();
    munmap(two, 8192);
    munmap(part, 4096);
    // Memory that is mapped in its place has no labels.
    two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (two == MAP_FAILED || two[4096] == 'a')
        return 0;
    int shm = shm_open("/pleach-test-ways", O_RDWR | O_CREAT, 0600);
    if (shm >= 0) {
        shm_unlink("/pleach-test-ways");
        if (ftruncate(shm, 8192) != 0)
            return 0;
        one = map(shm, PROT_READ | PROT_WRITE, MAP_SHARED);
        two = map(shm, PROT_READ | PROT_WRITE, MAP_SHARED);
        one[0] = in[0] + in[1];
        two[1] = one[0] + 1;
        if (goal == 4 && one[1] == 77)
            abort();
    }
    int memory = memfd_create("memory", 0);
    if (memory >= 0 && write(memory, in, 8) == 8) {
        one = map(memory, PROT_READ, MAP_PRIVATE);
        if (goal == 5 && one[7] == '5')
            abort();
    }
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (id < 0)
        return 0;
    one = shmat(id, NULL, 0);
    two = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    one[9] = in[6];
    if (goal == 6 && two[9] == '6')
        abort();
    shmdt(one);
    shmdt(two);
    return 0;
}
