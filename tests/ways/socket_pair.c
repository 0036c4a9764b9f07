// Input goes through a pair of sockets, in both directions, and through messages.
// seed: "abcdefgh"
// goals: 4
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0, ends[2];
    char in[8], back[8], far[8];
    if (read(0, in, 8) != 8 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 0;
    if (write(ends[0], in, 4) != 4 || send(ends[1], in + 4, 4, 0) != 4)
        return 0;
    if (recv(ends[1], back, 2, MSG_PEEK) != 2 || read(ends[1], back, 4) != 4)
        return 0;
    if (recv(ends[0], far, 4, 0) != 4)
        return 0;
    if (goal == 0 && memcmp(back, "ping", 4) == 0)
        abort();
    if (goal == 1 && memcmp(far, "pong", 4) == 0)
        abort();
    struct iovec parts[2] = { { in + 1, 2 }, { in + 5, 2 } }, to[1] = { { back, 4 } };
    struct msghdr out = { .msg_iov = parts, .msg_iovlen = 2 };
    struct msghdr message = { .msg_iov = to, .msg_iovlen = 1 };
    if (sendmsg(ends[0], &out, 0) != 4 || recvmsg(ends[1], &message, 0) != 4)
        return 0;
    if (goal == 2 && back[1] == '<' && back[3] == '>')
        abort();
    if (sendto(ends[1], in, 8, 0, NULL, 0) != 8 || recvfrom(ends[0], far, 8, 0, NULL, NULL) != 8)
        return 0;
    if (goal == 3 && far[0] == '(' && far[7] == ')')
        abort();
    return 0;
}
