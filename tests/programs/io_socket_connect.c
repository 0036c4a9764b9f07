// The input over a loopback connection that the program makes, read by recvmsg into two buffers.
// socket: yes
// plain: no
// run
// input: "OKdata"
// stdout: "ok\n4 bytes\n"
// exit: 0
// path: length: len <= 9
// path: len >= 2
// path: in[0] == 'O'
// path: select: in[1] == 'K'
// must: in[1] == 'K'
// other: "NOdata"
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
    // The discard port: only the driver answers there.
    struct sockaddr_in addr = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&addr, sizeof addr))
        return 2;
    char head[2], body[8];
    struct iovec parts[2] = {{head, 2}, {body, 8}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    long n = recvmsg(s, &message, 0);
    if (n < 2)
        return 3;
    puts(head[0] == 'O' && head[1] == 'K' ? "ok" : "not ok");
    printf("%ld bytes\n", n - 2);
    close(s);
    return 0;
}
