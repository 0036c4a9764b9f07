// recvmsg, readv and MSG_PEEK on a connection: bytes have the labels of their position in the stream.
// flags: -O2 -D_GNU_SOURCE
// socket: yes
// plain: no
// run
// input: "abcdef"
// stdout: "peeked a\nabc|de\nf\nend\n"
// exit: 0
// path: length: len > 0
// path: select: in[0] == 'a'
// path: length: len > 4
// path: in[0] == 'a'
// path: in[2] == 'c'
// path: select: in[4] == 'e'
// path: length: len > 5
// path: select: in[5] == 'f'
// path: length: len <= 6
// must: in[0] == 'a'
// must: in[4] == 'e'
// must: in[5] == 'f'
// other: "abcdff"
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof addr;
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || bind(s, (struct sockaddr *)&addr, sizeof addr) || listen(s, 1))
        return 2;
    int c = accept4(s, (struct sockaddr *)&addr, &len, SOCK_CLOEXEC);
    if (c < 0 || addr.sin_family != AF_INET || addr.sin_addr.s_addr != htonl(INADDR_LOOPBACK))
        return 3;
    char a[3], b[2], last, none;
    if (recv(c, a, 1, MSG_PEEK) != 1)
        return 4;
    puts(a[0] == 'a' ? "peeked a" : "peeked another");
    struct iovec parts[2] = {{a, 3}, {b, 2}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    if (recvmsg(c, &message, 0) != 5)
        return 5;
    puts(a[0] == 'a' && a[2] == 'c' && b[1] == 'e' ? "abc|de" : "other parts");
    struct iovec one = {&last, 1};
    if (readv(c, &one, 1) != 1)
        return 6;
    puts(last == 'f' ? "f" : "not f");
    puts(recv(c, &none, 1, 0) == 0 ? "end" : "more");
    return 0;
}
