// Addresses of networks in text.
// seed: "1.2.3.4\n12::1\n"
// goals: 4
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char in[32] = {0};
    unsigned char to[16];
    struct in_addr any;
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, sizeof in - 1) < 1)
        return 1;
    char *line = strchr(in, '\n');
    if (!line)
        return 1;
    *line++ = 0;
    line[strcspn(line, "\n")] = 0;
    if (goal == 0 && inet_pton(AF_INET, in, to) == 1 && to[1] == 7 && to[3] == 9)
        abort();
    if (goal == 1 && inet_pton(AF_INET6, line, to) == 1 && to[1] == 0x34 && to[15] == 5)
        abort();
    if (goal == 2 && inet_aton(in, &any) && ntohl(any.s_addr) >> 24 == 8)
        abort();
    if (goal == 3 && inet_addr(in) == htonl(0x05060708))
        abort();
    return 0;
}
